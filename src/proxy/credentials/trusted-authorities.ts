/**
 * The certificate authorities that the edge's certificate has to chain to.
 */
import { X509Certificate } from 'node:crypto';
import { certificateBlocks } from '../../wire/pem.ts';

/** What TLS is told to trust; nothing else is. */
export interface TrustedAuthorities {
  /** All of them, as PEM. */
  readonly certificates: string;
  readonly count: number;
}

/**
 * Reads a bundle. Each block is parsed here, because TLS would ignore what it cannot read and then trust nobody.
 *
 * @throws Error with a sentence for the user.
 */
export function parseTrustedAuthorities(bytes: Buffer, path: string): TrustedAuthorities {
  const blocks = certificateBlocks(bytes.toString('latin1'));
  if (blocks.length === 0) {
    throw new Error(`${path} holds no certificate; give the tenant's CA as PEM`);
  }
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const which = `certificate ${index + 1} of ${blocks.length} in ${path}`;
      throw new Error(`${which} cannot be read (${why}); give the tenant's CA as PEM`, {
        cause: error,
      });
    }
  }
  return { certificates: `${blocks.join('\n')}\n`, count: blocks.length };
}
