/**
 * What Bun's `error` handler of a TLS socket is told: what a handler has thrown, and that a session is broken.
 */

/**
 * Whether it is the session that broke: Bun closes the socket of such a one by itself, and that is counted there.
 *
 * Bun 1.4 reports it as EPROTO, Node as ERR_SSL_ and BoringSSL's word. Whether there is a code at all says nothing: what
 * Bun throws at us has one too, such as ERR_BORINGSSL for authorities that it cannot read.
 */
export function isBrokenSession(error: Error & { readonly code?: unknown }): boolean {
  const { code } = error;
  return typeof code === 'string' && (code === 'EPROTO' || code.startsWith('ERR_SSL_'));
}
