/**
 * From a waiting pod to a verified edge: dials, completes the handshake, verifies the certificate, and enforces the
 * timeout.
 *
 * The certificate must chain to the tenant's CA and have the server name (edge-identity.ts). `rejectUnauthorized` is
 * always set, so neither a flag nor the environment can disable verification.
 */
import type { SocketHandler, TCPSocketConnectOptions, TLSOptions } from 'bun';
import { dialFailure, ignoreConnectRejection } from '../../engine/bun/dial-failure.ts';
import type { Relay } from '../../engine/bun/relay.ts';
import type { Clock } from '../../clock/clock.ts';
import { COLUMN, GLOBAL, type Counters } from '../../engine/counters.ts';
import type { Endpoint } from '../../engine/endpoint.ts';
import type { Limits } from '../../engine/limits.ts';
import { REASON } from '../../engine/reasons.ts';
import { isCertificateFault, wasResetAfterAccept } from '../edge/certificate-fault.ts';
import type { EdgeLoadBalancer } from '../edge/edge-load-balancer.ts';
import { identityFault } from '../edge/edge-identity.ts';
import { isBrokenSession } from './broken-session.ts';
import { EdgeSide, type PodSide } from './sides.ts';

interface EdgeDialerOptions {
  readonly loadBalancer: EdgeLoadBalancer;
  readonly serverName: string;
  /** Returns the current authorities as PEM. */
  readonly authorities: () => string;
  readonly counters: Counters;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly relay: Relay;
  /** Called when the edge is connected and verified. `protocol` is its choice from the pod's protocols. */
  readonly connected: (pod: PodSide, protocol: string | false | null) => void;
  /** Called when no endpoint is left to dial. */
  readonly failed: (pod: PodSide) => void;
  /** Called when an endpoint has failed. `error` is undefined after a timeout. */
  readonly suspected: (reason: number, error: Error | undefined) => void;
  readonly fault: (pod: PodSide, error: unknown) => void;
}

/** Bun's types declare this option for Bun.listen only. */
interface BunConnectOptions extends TCPSocketConnectOptions<EdgeSide> {
  readonly allowHalfOpen: true;
}

/** The dials of one terminator. */
export class EdgeDialer {
  readonly #options: EdgeDialerOptions;
  readonly #counters: Counters;
  readonly #row: number;
  readonly #handlers: SocketHandler<EdgeSide>;
  readonly #dialing = new Set<PodSide>();
  readonly #untrusted: number;
  readonly #handshakeFailed: number;
  #abandoned = 0;

  constructor(options: EdgeDialerOptions) {
    this.#options = options;
    this.#counters = options.counters;
    this.#row = options.counters.row(0);
    this.#untrusted = options.counters.reason('edge_untrusted');
    this.#handshakeFailed = options.counters.reason('edge_handshake_failed');
    this.#handlers = this.#edgeHandlers();
  }

  /** Number of dials that no pod waits for and that Bun cannot cancel. */
  get abandoned(): number {
    return this.#abandoned;
  }

  /** Dials the next endpoint, or reports that there is none. */
  start(pod: PodSide): void {
    const { loadBalancer, limits, clock, failed, fault } = this.#options;
    const endpoint = loadBalancer.pick(pod.attempts);
    if (endpoint === undefined) {
      failed(pod);
      return;
    }
    pod.phase = 'dialing';
    pod.endpoint = endpoint;
    pod.attempts++;
    pod.dialedMs = clock.nowMs();
    pod.deadlineMs = pod.dialedMs + limits.dialTimeoutMs;
    pod.peer = new EdgeSide(pod);
    pod.peer.bytesAt = this.#row + COLUMN.bytesUp;
    pod.bytesAt = this.#row + COLUMN.bytesDown;
    this.#dialing.add(pod);
    this.#counters.add(GLOBAL.dialing, 1);
    try {
      this.#connect(pod, pod.peer, endpoint);
    } catch (error) {
      this.#record(pod);
      pod.peer = null; // there is no dial to abandon
      fault(pod, error);
    }
  }

  /** Forgets a pod whose connection has ended, and abandons its pending dial. */
  forget(pod: PodSide): void {
    if (!this.#dialing.delete(pod)) return;
    this.#counters.add(GLOBAL.dialing, -1);
    if (pod.peer !== null) this.#abandon(pod.peer);
  }

  /** Fails the dials that have timed out. All have the same timeout, so the earliest deadline comes first. */
  tick(nowMs: number): void {
    for (const pod of this.#dialing) {
      if (pod.deadlineMs > nowMs) break;
      if (pod.peer === null) continue;
      this.#abandon(pod.peer);
      this.#fail(pod, REASON.dial_timeout, undefined);
    }
  }

  /**
   * Starts a TLS connection. @throws the error of Bun about invalid options, such as authorities that BoringSSL
   * refuses.
   */
  #connect(pod: PodSide, edge: EdgeSide, { address, port }: Endpoint): void {
    const options: BunConnectOptions = {
      hostname: address,
      port,
      allowHalfOpen: true,
      tls: this.#tls(pod),
      socket: this.#handlers,
      data: edge,
    };
    Bun.connect<EdgeSide>(options).catch(ignoreConnectRejection);
  }

  #tls(pod: PodSide): TLSOptions {
    const { serverName, authorities } = this.#options;
    const tls: TLSOptions = { ca: authorities(), serverName, rejectUnauthorized: true };
    if (pod.offers !== undefined) tls.ALPNProtocols = pod.offers;
    return tls;
  }

  #edgeHandlers(): SocketHandler<EdgeSide> {
    const { relay } = this.#options;
    return {
      binaryType: 'uint8array',
      open: (socket) => {
        const edge = socket.data;
        edge.socket = socket;
        if (edge.abandoned) this.#settle(edge);
      },
      handshake: (socket, success, error) => {
        const edge = socket.data;
        if (edge.closed || edge.verified) return;
        const fault = identityFault(socket, success, error, this.#options.serverName);
        if (fault === undefined) this.#verified(edge);
        else this.#handshakeLost(edge, fault);
      },
      connectError: (socket, error) => {
        const edge = socket.data;
        if (edge.abandoned) this.#settle(edge);
        else if (wasResetAfterAccept(error)) this.#ended(edge, error, true);
        else if (!edge.closed) this.#lost(edge, dialFailure(error), error);
      },
      data: (socket, chunk) => {
        // Bun has never reported bytes before the handshake. If it does, the relay buffers them until the pod is
        // joined, and drops them if the edge is not trusted.
        if (!socket.data.closed) relay.pass(socket.data, socket.data.peer, chunk);
      },
      drain: (socket) => {
        if (!socket.data.closed) relay.drained(socket.data);
      },
      end: (socket) => this.#ended(socket.data, undefined),
      close: (socket, error) => this.#ended(socket.data, error, true),
      // Bun calls this with exceptions of handlers, and when a TLS session breaks. In the latter case it closes the
      // socket too.
      error: (socket, error) => {
        if (!isBrokenSession(error)) this.#options.fault(socket.data.peer, error);
      },
    };
  }

  #verified(edge: EdgeSide): void {
    const { loadBalancer, limits, connected } = this.#options;
    const pod = edge.peer;
    edge.verified = true;
    pod.offers = undefined; // no longer needed; saves memory of idle connections
    this.#record(pod);
    if (pod.endpoint !== undefined) loadBalancer.succeeded(pod.endpoint);
    edge.socket?.setKeepAlive(true, limits.keepaliveMs);
    connected(pod, edge.socket?.alpnProtocol ?? null);
  }

  /** Handles the FIN of the edge, or its close. Before the pod is joined, it cannot receive a FIN. */
  #ended(edge: EdgeSide, error: Error | undefined, isClosed = false): void {
    if (edge.closed) return;
    const { relay } = this.#options;
    if (!edge.verified) {
      this.#handshakeLost(edge, error);
    } else if (!isClosed && edge.peer.phase === 'joined') {
      relay.fin(edge, edge.peer);
    } else {
      if (!isClosed) edge.close('reset');
      relay.closed(edge, edge.peer, error);
    }
  }

  #handshakeLost(edge: EdgeSide, error: Error | undefined): void {
    const isFault = error !== undefined && isCertificateFault(error);
    this.#lost(edge, isFault ? this.#untrusted : this.#handshakeFailed, error);
  }

  #lost(edge: EdgeSide, reason: number, error: Error | undefined): void {
    edge.close('reset');
    this.#fail(edge.peer, reason, error);
  }

  #fail(pod: PodSide, reason: number, error: Error | undefined): void {
    const { loadBalancer, suspected, failed } = this.#options;
    this.#record(pod);
    this.#counters.fail(reason, this.#row);
    // The cause is this process, so another address would fail too, and no address needs a back-off.
    if (reason === REASON.dial_no_resources) {
      pod.peer = null;
      failed(pod);
      return;
    }
    if (pod.endpoint !== undefined)
      loadBalancer.failed(pod.endpoint, reason === REASON.dial_timeout);
    pod.peer = null;
    suspected(reason, error);
    this.start(pod);
  }

  /** Records the result of a finished dial. */
  #record(pod: PodSide): void {
    if (!this.#dialing.delete(pod)) return;
    this.#counters.add(GLOBAL.dialing, -1);
    const elapsedMs = this.#options.clock.nowMs() - pod.dialedMs;
    this.#counters.recordDial(this.#row, elapsedMs);
  }

  /** Abandons a dial. A pending TCP dial cannot be canceled, so it is abandoned. A handshake can be reset. */
  #abandon(edge: EdgeSide): void {
    if (edge.socket !== null) {
      edge.close('reset');
      return;
    }
    edge.abandoned = true;
    this.#abandoned++;
    this.#counters.add(GLOBAL.abandonedDials, 1);
  }

  /** Closes an abandoned dial that has finished. */
  #settle(edge: EdgeSide): void {
    if (edge.closed) return;
    this.#abandoned--;
    this.#counters.add(GLOBAL.abandonedDials, -1);
    edge.close('reset');
  }
}
