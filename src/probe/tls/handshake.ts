/**
 * Performs TLS handshakes that return the presented certificate, trusted or not.
 */
import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { errorCode, type Dial } from '../dial.ts';
import { withTimeout, TIMED_OUT, type Limits } from '../limits.ts';
import type { PresentedChain } from './authorities.ts';

/** Where to connect, and what to offer. */
interface HandshakeTarget {
  /** The IP address of the edge. */
  readonly address: string;
  readonly port: number;
  /** The server name in the ClientHello. */
  readonly serverName: string;
  /** Offered with ALPN. */
  readonly protocols: readonly string[];
  /** PEM. The server is verified with it: see {@link SecuredConnection.isVerified}. */
  readonly ca?: string | undefined;
}

/** A connection after its handshake. */
export interface SecuredConnection {
  readonly tls: TLSSocket;
  /**
   * Whether the certificate is signed by `ca`, currently valid, and has the server name, possibly only as its common
   * name.
   */
  readonly isVerified: boolean;
  readonly close: () => void;
}

/** The outcome of a handshake. */
export type Handshake =
  /** The handshake was completed. The certificate is not verified here. */
  | {
      readonly kind: 'secured';
      readonly presented: PresentedChain;
      /** Negotiated with ALPN. Undefined if the peer selected none. */
      readonly protocol: string | undefined;
    }
  /** The peer sent an alert, named as in RFC 8446, section 6: `unrecognized_name`. */
  | { readonly kind: 'alert'; readonly alert: string }
  /** The connection ended, with the code of the error. */
  | { readonly kind: 'closed'; readonly code: string }
  /** The response is not TLS. */
  | { readonly kind: 'notTls' }
  /** Invalid TLS, with the code of the error. */
  | { readonly kind: 'malformed'; readonly code: string }
  | { readonly kind: 'timeout' };

/** Bun's error code for an alert of BoringSSL: ERR_SSL_TLSV1_ALERT_UNRECOGNIZED_NAME. */
const ALERT_CODE = /^ERR_SSL_(?:SSLV3|TLSV1|TLSV13)_(?:ALERT_)?(\w+)$/;

/** The error codes if the first record is not TLS. */
const NOT_TLS = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_HTTP_REQUEST']);

/** The maximum length of a chain. */
const MAX_CHAIN = 10;

/** Connects, performs the handshake, and closes the connection. @throws only the reason of the caller's signal. */
export async function shakeHands(
  target: HandshakeTarget,
  dial: Dial,
  limits: Limits,
): Promise<Handshake> {
  const { handshake, connection } = await openSecured(target, dial, limits);
  connection?.close();
  return handshake;
}

/**
 * Connects and performs the handshake. The caller closes the connection, and must not send data on an unverified one.
 *
 * @throws only the reason of the caller's signal.
 */
export async function openSecured(
  target: HandshakeTarget,
  dial: Dial,
  limits: Limits,
): Promise<{ readonly handshake: Handshake; readonly connection?: SecuredConnection }> {
  const result = await withTimeout(limits, async (signal) => {
    try {
      const socket = await dial(target.address, target.port, signal);
      return await secure(socket, target, signal);
    } catch (error) {
      return { handshake: failedHandshake(error) };
    }
  });
  return result === TIMED_OUT ? { handshake: { kind: 'timeout' } } : result;
}

/** Starts TLS on an open connection. Closes it if the options are invalid. */
export function connectTls(socket: Socket, options: ConnectionOptions): TLSSocket {
  try {
    return connect({ ...options, socket });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function secure(
  socket: Socket,
  { serverName, protocols, ca }: HandshakeTarget,
  signal: AbortSignal,
): Promise<{ readonly handshake: Handshake; readonly connection?: SecuredConnection }> {
  const { promise, resolve, reject } = Promise.withResolvers<Handshake>();
  // An untrusted certificate must be returned too, so it does not abort the handshake.
  const tls = connectTls(socket, {
    servername: serverName,
    ca,
    ALPNProtocols: [...protocols],
    rejectUnauthorized: false,
  });
  const close = () => {
    tls.destroy();
    socket.destroy();
  };
  // Also after the handshake: nothing else would close a connection that comes too late.
  signal.addEventListener(
    'abort',
    () => {
      reject(signal.reason as Error);
      close();
    },
    { once: true },
  );
  tls.once('secureConnect', () => resolve(secured(tls)));
  tls.on('error', reject);
  tls.once('close', () => resolve({ kind: 'closed', code: 'ECONNRESET' }));
  try {
    const handshake = await promise;
    if (handshake.kind === 'secured') {
      const isVerified = ca !== undefined && tls.authorized;
      return { handshake, connection: { tls, isVerified, close } };
    }
    close();
    return { handshake };
  } catch (error) {
    close();
    throw error;
  }
}

/** Returns a completed handshake. */
export function secured(tls: TLSSocket): Handshake {
  const presented: X509Certificate[] = [];
  let next = tls.getPeerX509Certificate();
  while (next !== undefined && presented.length < MAX_CHAIN) {
    presented.push(next);
    // A self-signed certificate is its own issuer.
    if (next.issuerCertificate?.fingerprint256 === next.fingerprint256) break;
    next = next.issuerCertificate;
  }
  const [leaf, ...others] = presented;
  // Every TLS server has a certificate, except in a handshake with a pre-shared key.
  if (leaf === undefined) return { kind: 'malformed', code: 'NO_CERTIFICATE' };
  return {
    kind: 'secured',
    presented: [leaf, ...others],
    protocol: tls.alpnProtocol === false ? undefined : (tls.alpnProtocol ?? undefined),
  };
}

/** Returns a handshake that failed with a system or TLS error. @throws any other error. */
export function failedHandshake(error: unknown): Handshake {
  const code = errorCode(error);
  const alert = ALERT_CODE.exec(code)?.[1];
  if (alert !== undefined) return { kind: 'alert', alert: alert.toLowerCase() };
  if (NOT_TLS.has(code)) return { kind: 'notTls' };
  if (code.startsWith('ERR_SSL_')) return { kind: 'malformed', code };
  if (code === '') throw error;
  return { kind: 'closed', code };
}
