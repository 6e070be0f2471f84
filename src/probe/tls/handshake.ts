/**
 * A TLS handshake that shows which certificate the server presents, whether that is trusted or not.
 */
import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { errorCode, type Dial } from '../dial.ts';
import { inTime, TIMED_OUT, type Limits } from '../limits.ts';
import type { PresentedChain } from './authorities.ts';

/** Where to connect, and what to offer. */
export interface HandshakeTarget {
  /** Of the edge; never a name. */
  readonly address: string;
  readonly port: number;
  /** In the ClientHello. */
  readonly serverName: string;
  /** Offered by ALPN. */
  readonly protocols: readonly string[];
  /** PEM. The server is verified with it: see {@link SecuredConnection.isVerified}. */
  readonly ca?: string | undefined;
}

/** A connection after its handshake. */
export interface SecuredConnection {
  readonly tls: TLSSocket;
  /** Whether `ca` signed the certificate, it is valid now, and has the name of the server, if only as its common name. */
  readonly isVerified: boolean;
  readonly close: () => void;
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

/** Connects, performs the handshake, closes. @throws the reason of the caller's signal only. */
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
 * Connects and performs the handshake. The caller closes the connection, and sends nothing by one that is not verified.
 *
 * @throws the reason of the caller's signal only.
 */
export async function openSecured(
  target: HandshakeTarget,
  dial: Dial,
  limits: Limits,
): Promise<{ readonly handshake: Handshake; readonly connection?: SecuredConnection }> {
  const result = await inTime(limits, async (signal) => {
    try {
      const socket = await dial(target.address, target.port, signal);
      return await secure(socket, target, signal);
    } catch (error) {
      return { handshake: broken(error) };
    }
  });
  return result === TIMED_OUT ? { handshake: { kind: 'timeout' } } : result;
}

/** TLS by an open connection, which is closed if the options cannot be used. */
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
  // An untrusted certificate must be seen too, so it does not end the handshake.
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
