/**
 * Probes the edge with a TLS handshake like that of a pod's connection: with the same name and the same authorities. In
 * mode passthrough, a signed header comes first, so that the gateway verifies the key too. It sends nothing after the
 * handshake.
 */
import type { Socket, SocketHandler, TCPSocketConnectOptions } from 'bun';
import { dialFailure, ignoreConnectRejection } from '../../engine/bun/dial-failure.ts';
import type { Endpoint } from '../../engine/endpoint.ts';
import { ENGINE_REASONS, ENGINE_REASON_CODES } from '../../engine/reasons.ts';
import { readAlert, type AlertName } from '../../wire/alert.ts';
import { PROXY_REASONS } from '../reasons.ts';
import { isCertificateFault, wasResetAfterAccept } from './certificate-fault.ts';
import { identityFault } from './edge-identity.ts';

interface EdgeProbeOptions {
  readonly endpoint: Endpoint;
  readonly serverName: string;
  /** The authorities as PEM. */
  readonly authorities: string;
  /**
   * Returns the header to send first, for a connection between these two addresses. Undefined if the connection is
   * already closed.
   */
  readonly preface?: ((local: Socket<Attempt>) => Uint8Array | undefined) | undefined;
  readonly timeoutMs: number;
}

/** The result of a probe. */
export type ProbeResult =
  | { readonly isUp: true }
  | {
      readonly isUp: false;
      /** A code of {@link ENGINE_REASONS} or {@link PROXY_REASONS}. */
      readonly code: string;
      /** What happened, as a message for the user. */
      readonly message: string;
    };

const CLOSED_AFTER_ACCEPT = 'it closed the connection right after accepting it';

/** The protocols that pods usually offer, for an edge that routes by protocol. */
const ALPN = Buffer.from('\x02h2\x08http/1.1', 'latin1');

/**
 * The meaning of the gateway's alerts. They apply only if the probe sends a header, because then the edge is a gateway.
 */
const GATEWAY_ALERT_MEANINGS: Partial<Record<AlertName, string>> = {
  handshake_failure:
    "the gateway rejected the signed header; check the tenant's key and the clock of this machine",
  internal_error: 'the gateway has no working endpoint for this tenant',
};

/** Probes an endpoint once: connects, completes the handshake, and closes the connection. */
export async function probeEdge(options: EdgeProbeOptions): Promise<ProbeResult> {
  const { endpoint, timeoutMs } = options;
  const { promise, resolve } = Promise.withResolvers<ProbeResult>();
  const attempt = new Attempt(options, resolve);
  const timer = setTimeout(() => attempt.timedOut(), timeoutMs);
  const dial: TCPSocketConnectOptions<Attempt> = {
    hostname: endpoint.address,
    port: endpoint.port,
    socket: PLAIN,
    data: attempt,
  };
  Bun.connect<Attempt>(dial).catch(ignoreConnectRejection);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** A probe in progress. */
class Attempt {
  readonly #options: EdgeProbeOptions;
  readonly #resolve: (result: ProbeResult) => void;
  #socket: Socket<Attempt> | undefined;
  #isOver = false;
  /** The meaning of the alert of the edge. */
  #alertMeaning: string | undefined;

  constructor(options: EdgeProbeOptions, resolve: (result: ProbeResult) => void) {
    this.#options = options;
    this.#resolve = resolve;
  }

  /** Handles a connected socket. Closes it if the probe has already timed out. */
  opened(socket: Socket<Attempt>): void {
    if (this.#isOver) {
      socket.terminate();
      return;
    }
    try {
      this.#begin(socket);
    } catch (error) {
      this.faulted(socket, error);
    }
  }

  /** Handles an exception. It becomes the result of the probe, because nothing else would report it. */
  faulted(socket: Socket<Attempt>, error: unknown): void {
    this.#fail('fault', error instanceof Error ? error : new Error(String(error)));
    socket.terminate();
  }

  /**
   * Reads the alerts that the edge sends in plaintext, before keys are negotiated. TLS errors would distinguish alerts
   * only by their text.
   */
  received(bytes: Uint8Array): void {
    if (this.#options.preface === undefined) return;
    const name = readAlert(bytes)?.name;
    if (name !== undefined) this.#alertMeaning ??= GATEWAY_ALERT_MEANINGS[name];
  }

  secured(socket: Socket<Attempt>): void {
    this.#socket = socket;
  }

  handshaken(socket: Socket<Attempt>, success: boolean, error: Error | null): void {
    const fault = identityFault(socket, success, error, this.#options.serverName);
    if (fault === undefined) this.#end({ isUp: true });
    else this.#fail(isCertificateFault(fault) ? 'edge_untrusted' : 'edge_handshake_failed', fault);
  }

  lost(error: Error | undefined): void {
    this.#fail('edge_handshake_failed', error);
  }

  refused(error: Error): void {
    if (wasResetAfterAccept(error))
      this.#fail('edge_handshake_failed', new Error(CLOSED_AFTER_ACCEPT, { cause: error }));
    else this.#fail(ENGINE_REASON_CODES[dialFailure(error)] ?? 'dial_failed', error);
  }

  timedOut(): void {
    this.#fail('dial_timeout', undefined);
  }

  #begin(socket: Socket<Attempt>): void {
    const { authorities, preface, serverName } = this.#options;
    if (preface !== undefined) {
      const header = preface(socket);
      if (header === undefined) {
        this.#fail('edge_handshake_failed', new Error(CLOSED_AFTER_ACCEPT));
        socket.terminate();
        return;
      }
      socket.write(header);
    }
    socket.upgradeTLS<Attempt>({
      data: this,
      tls: { ca: authorities, serverName, rejectUnauthorized: true, ALPNProtocols: ALPN },
      socket: SECURE,
    });
  }

  #fail(code: keyof typeof ENGINE_REASONS | keyof typeof PROXY_REASONS, error?: Error): void {
    const { endpoint, serverName } = this.#options;
    const isAlert = code === 'edge_handshake_failed' && this.#alertMeaning !== undefined;
    const meaning = isAlert ? this.#alertMeaning : { ...ENGINE_REASONS, ...PROXY_REASONS }[code];
    const detail = error === undefined ? '' : ` (${error.message.trim()})`;
    const message = `${code}: edge ${endpoint.toString()}, name ${serverName}: ${meaning}${detail}`;
    this.#end({ isUp: false, code, message });
  }

  #end(result: ProbeResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#resolve(result);
    this.#socket?.shutdown();
    this.#socket?.close();
  }
}

const PLAIN: SocketHandler<Attempt> = {
  open: (socket) => socket.data.opened(socket),
  // TLS reads these bytes afterwards.
  data: (socket, chunk) => socket.data.received(chunk),
  connectError: (socket, error) => socket.data.refused(error),
  close: (socket, error) => socket.data.lost(error),
  error: (socket, error) => socket.data.faulted(socket, error),
};

const SECURE: SocketHandler<Attempt> = {
  open: (socket) => socket.data.secured(socket),
  handshake: (socket, success, error) => socket.data.handshaken(socket, success, error),
  data: () => {},
  close: (socket, error) => socket.data.lost(error),
  error: (socket, error) => socket.data.lost(error),
};
