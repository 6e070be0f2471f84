/** Fingerprints the content of a CA's file, to detect changes. */
import { createHash } from 'node:crypto';
import { readCaCertificates } from './authority.ts';

/**
 * Returns a SHA-256 fingerprint in hex. For one certificate it equals the output of `openssl x509 -fingerprint
 * -sha256`. For several it is computed from their sorted fingerprints, so that their order, comments and line ends do
 * not matter.
 *
 * @throws PkiError if there are no certificates.
 */
export function caFingerprint(pem: string): string {
  const all = readCaCertificates(pem).map(({ rawData }) => sha256(Buffer.from(rawData)));
  const [only, ...others] = [...new Set(all)].toSorted();
  return only !== undefined && others.length === 0 ? only : sha256([only, ...others].join('\n'));
}

function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}
