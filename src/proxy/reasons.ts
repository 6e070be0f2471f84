/**
 * Reason codes of the proxy, besides those of the engine. Codes never change: they are metric labels and log fields.
 */
import { HELLO_REFUSALS, type HelloRefusal } from '../wire/outcome.ts';

/** The reason codes of both modes and their meanings. */
export const PROXY_REASONS = {
  edge_down: 'no address of the edge could be reached, so the pod was reset',
  edge_untrusted:
    'the certificate of the edge is not issued by the CA, not valid now, or for another name',
  edge_handshake_failed: 'the edge did not complete the TLS handshake',
  client_handshake_failed: 'the pod did not complete the TLS handshake',
  client_handshake_timeout: 'the pod did not complete the TLS handshake in time',
} as const satisfies Record<string, string>;

/** A code of {@link PROXY_REASONS}. */
type ProxyReason = keyof typeof PROXY_REASONS;

/** The codes, in order. */
export const PROXY_REASON_CODES = Object.keys(PROXY_REASONS) as readonly ProxyReason[];

/** The codes for refused hellos. Only mode terminate reads hellos. */
export const HELLO_REFUSAL_CODES = Object.keys(HELLO_REFUSALS) as readonly HelloRefusal[];
