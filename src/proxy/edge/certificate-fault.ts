/**
 * What an error of a handshake means.
 */

/** Codes of a handshake that broke for another reason than the certificate: the protocol, or the network. */
const NOT_OF_THE_CERTIFICATE = /^(E[A-Z]+|ERR_SSL_.*)$/;

/**
 * Whether it is the certificate that was refused: its chain, its dates, its name. OpenSSL's codes for that (X509_V_ERR_)
 * and Node's ERR_TLS_CERT_ALTNAME_INVALID are many; those that are not of this kind are few.
 */
export function isCertificateFault(error: Error & { readonly code?: unknown }): boolean {
  return typeof error.code === 'string' && !NOT_OF_THE_CERTIFICATE.test(error.code);
}

/**
 * Whether a dial that failed was accepted first, and reset before Bun looked: then somebody listens there. To an open
 * port that has no room the kernel says nothing at all, and to a closed one ECONNREFUSED.
 */
export function isHungUp(error: Error & { readonly code?: unknown }): boolean {
  return error.code === 'ECONNRESET';
}
