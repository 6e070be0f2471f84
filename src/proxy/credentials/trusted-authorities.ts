/**
 * The certificate authorities that must have issued the certificate of the edge.
 */
import { X509Certificate } from 'node:crypto';
import { certificateBlocks } from '../../wire/pem.ts';

/** The only certificates that TLS trusts. */
export interface TrustedAuthorities {
  /** All certificates, as PEM. */
  readonly certificates: string;
  readonly count: number;
}

/**
 * Parses a bundle. It parses each block itself, because TLS would ignore an invalid one and then trust no certificate.
 *
 * @throws Error with a message for the user.
 */
export function parseTrustedAuthorities(bytes: Buffer, path: string): TrustedAuthorities {
  const blocks = certificateBlocks(bytes.toString('latin1'));
  if (blocks.length === 0) {
    throw new Error(`${path} contains no certificate; provide the tenant's CA as PEM`);
  }
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const certificate = `certificate ${index + 1} of ${blocks.length} in ${path}`;
      throw new Error(`${certificate} is invalid (${message}); provide the tenant's CA as PEM`, {
        cause: error,
      });
    }
  }
  return { certificates: `${blocks.join('\n')}\n`, count: blocks.length };
}
