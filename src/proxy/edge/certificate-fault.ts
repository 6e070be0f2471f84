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
