/**
 * A short name for the content of a CA's file, to see whether it has changed.
 */
import { createHash } from 'node:crypto';
import { readCaCertificates } from './authority.ts';

/**
 * SHA-256 in hex. Of one certificate: the one that `openssl x509 -fingerprint -sha256` prints. Of several: of their
 * fingerprints, in an order of our own, so that neither their order nor comments nor line ends matter.
 *
 * @throws PkiError if it holds no certificates.
 */
export function caFingerprint(pem: string): string {
  const all = readCaCertificates(pem).map(({ rawData }) => sha256(Buffer.from(rawData)));
  const [only, ...others] = [...new Set(all)].toSorted();
  return only !== undefined && others.length === 0 ? only : sha256([only, ...others].join('\n'));
}

function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}
