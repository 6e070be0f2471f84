/**
 * Classifies the errors of a handshake.
 */

/** Codes of handshakes that failed because of the protocol or the network, not the certificate. */
const NOT_OF_THE_CERTIFICATE = /^(E[A-Z]+|ERR_SSL_.*)$/;

/**
 * Reports whether the certificate was refused: its chain, its dates or its name. OpenSSL has many codes for that
 * (X509_V_ERR_), and Node has ERR_TLS_CERT_ALTNAME_INVALID. The other codes are few, so these are listed.
 */
export function isCertificateFault(error: Error & { readonly code?: unknown }): boolean {
  return typeof error.code === 'string' && !NOT_OF_THE_CERTIFICATE.test(error.code);
}

/**
 * Reports whether a failed dial was accepted first and then reset before Bun handled it, so that a server listens
 * there. For a full backlog, the kernel sends no answer at all; for a closed port, it reports ECONNREFUSED.
 */
export function isHungUp(error: Error & { readonly code?: unknown }): boolean {
  return error.code === 'ECONNRESET';
}
