/**
 * A TLS handshake to look at whoever answers: nothing is believed, and nothing is sent behind it.
 */
import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { errorCode, type Dial } from '../dial.ts';
import { inTime, TIMED_OUT, type Limits } from '../limits.ts';
import type { PresentedChain } from './authorities.ts';

/** Whom to shake hands with. */
export interface HandshakeTarget {
  /** Of the edge; never a name. */
  readonly address: string;
  readonly port: number;
  /** In the ClientHello. */
  readonly serverName: string;
  /** Offered by ALPN. */
  readonly protocols: readonly string[];
}

/** How it ended. */
export type Handshake =
  /** It was completed; whether the certificate is to be trusted is for others to say. */
  | {
      readonly kind: 'secured';
      readonly presented: PresentedChain;
      /** By ALPN; nothing if the peer chose none. */
      readonly protocol: string | undefined;
    }
  /** The peer said no; its alert by the name of RFC 8446 section 6: `unrecognized_name`. */
  | { readonly kind: 'alert'; readonly alert: string }
  /** The connection ended: the error's code. */
  | { readonly kind: 'closed'; readonly code: string }
  /** The answer is not TLS at all. */
  | { readonly kind: 'notTls' }
  /** TLS, but not such as can be gone on with: the error's code. */
  | { readonly kind: 'malformed'; readonly code: string }
  | { readonly kind: 'timeout' };

/** BoringSSL's reason for an alert, as Bun makes a code of it: ERR_SSL_TLSV1_ALERT_UNRECOGNIZED_NAME. */
const ALERT_CODE = /^ERR_SSL_(?:SSLV3|TLSV1|TLSV13)_(?:ALERT_)?(\w+)$/;

/** Its reasons for a first record that is none. */
const NOT_TLS = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_HTTP_REQUEST']);

/** The longest chain that is looked at. */
const MAX_CHAIN = 10;

/** Dials, shakes hands, hangs up. @throws the reason of the caller's signal only. */
export async function shakeHands(
  target: HandshakeTarget,
  dial: Dial,
  limits: Limits,
): Promise<Handshake> {
  const result = await inTime(limits, async (signal) => {
    try {
      const socket = await dial(target.address, target.port, signal);
      return await secure(socket, target, signal);
    } catch (error) {
      return broken(error);
    }
  });
  return result === TIMED_OUT ? { kind: 'timeout' } : result;
}

async function secure(
  socket: Socket,
  { serverName, protocols }: HandshakeTarget,
  signal: AbortSignal,
): Promise<Handshake> {
  const { promise, resolve, reject } = Promise.withResolvers<Handshake>();
  const onAbort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  // Not verified, for it is just the wrong certificate that has to be seen. That is safe, because the connection ends
  // here: not a byte goes over it behind the handshake.
  const tls = connect({
    socket,
    servername: serverName,
    ALPNProtocols: [...protocols],
    rejectUnauthorized: false,
  });
  tls.once('secureConnect', () => resolve(secured(tls)));
  tls.on('error', reject);
  tls.once('close', () => resolve({ kind: 'closed', code: 'ECONNRESET' }));
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    tls.destroy();
    socket.destroy();
  }
}

/** A handshake that was completed. */
export function secured(tls: TLSSocket): Handshake {
  const presented: X509Certificate[] = [];
  let next = tls.getPeerX509Certificate();
  while (next !== undefined && presented.length < MAX_CHAIN) {
    presented.push(next);
    // A certificate that signed itself is its own issuer.
    if (next.issuerCertificate?.fingerprint256 === next.fingerprint256) break;
    next = next.issuerCertificate;
  }
  const [leaf, ...others] = presented;
  // No server of TLS is without one; a handshake without it would be one with a pre-shared key.
  if (leaf === undefined) return { kind: 'malformed', code: 'NO_CERTIFICATE' };
  return {
    kind: 'secured',
    presented: [leaf, ...others],
    protocol: tls.alpnProtocol === false ? undefined : (tls.alpnProtocol ?? undefined),
  };
}

/** A handshake that ended with an error of the system or of TLS. @throws any other error. */
export function broken(error: unknown): Handshake {
  const code = errorCode(error);
  const alert = ALERT_CODE.exec(code)?.[1];
  if (alert !== undefined) return { kind: 'alert', alert: alert.toLowerCase() };
  if (NOT_TLS.has(code)) return { kind: 'notTls' };
  if (code.startsWith('ERR_SSL_')) return { kind: 'malformed', code };
  if (code === '') throw error;
  return { kind: 'closed', code };
}
