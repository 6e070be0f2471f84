/**
 * Certificates in PEM (RFC 7468).
 */

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns each certificate of a file as PEM, in order, without the text between them. Does not parse certificates. */
export function certificateBlocks(pem: string): readonly string[] {
  return pem.match(BLOCK) ?? [];
}
