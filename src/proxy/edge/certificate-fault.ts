/** Classifies the errors of a handshake. */

/** Codes of handshakes that failed because of the protocol or the network, not the certificate. */
const OTHER_ERROR_CODES = /^(E[A-Z]+|ERR_SSL_.*)$/;

/**
 * Reports whether the certificate was refused: its chain, its dates or its name. OpenSSL has many codes for that
 * (X509_V_ERR_), and Node has ERR_TLS_CERT_ALTNAME_INVALID. All other codes match {@link OTHER_ERROR_CODES}.
 */
export function isCertificateFault(error: Error & { readonly code?: unknown }): boolean {
  return typeof error.code === 'string' && !OTHER_ERROR_CODES.test(error.code);
}

/**
 * Reports whether a server accepted a failed dial and reset it before Bun handled the connection. With a full backlog,
 * the kernel sends no answer; for a closed port, it reports ECONNREFUSED.
 */
export function wasResetAfterAccept(error: Error & { readonly code?: unknown }): boolean {
  return error.code === 'ECONNRESET';
}
