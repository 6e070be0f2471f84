/**
 * Certificates in a file as PEM (RFC 7468).
 */

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Each certificate of a file, as PEM, in its order. What is between them is left out, and what is in them not read. */
export function certificateBlocks(pem: string): readonly string[] {
  return pem.match(BLOCK) ?? [];
}
