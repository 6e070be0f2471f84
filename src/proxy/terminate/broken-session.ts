/**
 * Distinguishes the two kinds of errors that Bun passes to the `error` handler of a TLS socket: exceptions of handlers,
 * and broken sessions.
 */

/**
 * Reports whether the TLS session broke. Bun then closes the socket itself, and the close handler counts it.
 *
 * Bun 1.4 reports EPROTO, and Node reports ERR_SSL_ with a name of BoringSSL. Other codes belong to exceptions, such as
 * ERR_BORINGSSL for invalid authorities.
 */
export function isBrokenSession(error: Error & { readonly code?: unknown }): boolean {
  const { code } = error;
  return typeof code === 'string' && (code === 'EPROTO' || code.startsWith('ERR_SSL_'));
}
