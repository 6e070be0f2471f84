/**
 * From a pod that waits to an edge that is who it should be: dials, shakes hands, verifies, watches the time.
 *
 * The certificate has to chain to the tenant's CA and to carry the server name (edge-identity.ts). `rejectUnauthorized` is
 * always set: then neither a flag nor the environment turns verification off.
 */
import type { SocketHandler, TCPSocketConnectOptions, TLSOptions } from 'bun';
import { dialFailure, toldByConnectError } from '../../engine/bun/dial-failure.ts';
import type { Relay } from '../../engine/bun/relay.ts';
import type { Clock } from '../../clock/clock.ts';
import { COLUMN, GLOBAL, type Counters } from '../../engine/counters.ts';
import type { Endpoint } from '../../engine/endpoint.ts';
import type { Limits } from '../../engine/limits.ts';
import { REASON } from '../../engine/reasons.ts';
import { isCertificateFault, isHungUp } from '../edge/certificate-fault.ts';
import type { EdgeEndpoints } from '../edge/edge-endpoints.ts';
import { identityFault } from '../edge/edge-identity.ts';
import { isBrokenSession } from './broken-session.ts';
import { EdgeSide, type PodSide } from './sides.ts';

/** The parts of the terminator that a dial touches. */
export interface EdgeDiallerOptions {
  readonly endpoints: EdgeEndpoints;
  readonly serverName: string;
  /** The authorities of this moment, as PEM. */
  readonly authorities: () => string;
  readonly counters: Counters;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly relay: Relay;
  /** The edge is there and verified; `protocol` is what it chose of the pod's offers. */
  readonly connected: (pod: PodSide, protocol: string | false | null) => void;
  /** There is nobody left to dial. The reason is that of the last dial. */
  readonly failed: (pod: PodSide) => void;
  /** An endpoint did not answer as it should. `error` is absent if the time was up. */
  readonly suspected: (reason: number, error: Error | undefined) => void;
  readonly fault: (pod: PodSide, error: unknown) => void;
}

/** Bun's types have this one for Bun.listen only. */
interface BunConnectOptions extends TCPSocketConnectOptions<EdgeSide> {
  readonly allowHalfOpen: true;
}

/** Dials of one terminator. */
export class EdgeDialler {
  readonly #options: EdgeDiallerOptions;
  readonly #counters: Counters;
  readonly #row: number;
  readonly #handlers: SocketHandler<EdgeSide>;
  readonly #dialling = new Set<PodSide>();
  readonly #untrusted: number;
  readonly #handshakeFailed: number;
  #abandoned = 0;

  constructor(options: EdgeDiallerOptions) {
    this.#options = options;
    this.#counters = options.counters;
    this.#row = options.counters.row(0);
    this.#untrusted = options.counters.reason('edge_untrusted');
    this.#handshakeFailed = options.counters.reason('edge_handshake_failed');
    this.#handlers = this.#edgeHandlers();
  }

  /** Dials that nobody waits for and that Bun cannot take back. */
  get abandoned(): number {
    return this.#abandoned;
  }

  /** Dials the next endpoint, or says that there is none. */
  start(pod: PodSide): void {
    const { endpoints, limits, clock, failed, fault } = this.#options;
    const endpoint = endpoints.pick(pod.attempts);
    if (endpoint === undefined) {
      failed(pod);
      return;
    }
    pod.phase = 'dialling';
    pod.endpoint = endpoint;
    pod.attempts++;
    pod.dialledMs = clock.nowMs();
    pod.deadlineMs = pod.dialledMs + limits.dialTimeoutMs;
    pod.peer = new EdgeSide(pod);
    pod.peer.bytesAt = this.#row + COLUMN.bytesUp;
    pod.bytesAt = this.#row + COLUMN.bytesDown;
    this.#dialling.add(pod);
    this.#counters.add(GLOBAL.dialling, 1);
    try {
      this.#connect(pod, pod.peer, endpoint);
    } catch (error) {
      this.#decide(pod);
      pod.peer = null; // there is no dial that would have to be given up
      fault(pod, error);
    }
  }

  /** The pod is over; a dial still under way has nobody to wait for it. */
  leave(pod: PodSide): void {
    if (!this.#dialling.delete(pod)) return;
    this.#counters.add(GLOBAL.dialling, -1);
    if (pod.peer !== null) this.#giveUp(pod.peer);
  }

  /** Fails the dials that took too long. All have the same time, so the nearest deadline comes first. */
  tick(nowMs: number): void {
    for (const pod of this.#dialling) {
      if (pod.deadlineMs > nowMs) break;
      if (pod.peer === null) continue;
      this.#giveUp(pod.peer);
      this.#fail(pod, REASON.dial_timeout, undefined);
    }
  }

  /** @throws what Bun finds wrong with the options, such as authorities that BoringSSL does not take. */
  #connect(pod: PodSide, edge: EdgeSide, { address, port }: Endpoint): void {
    const options: BunConnectOptions = {
      hostname: address,
      port,
      allowHalfOpen: true,
      tls: this.#tls(pod),
      socket: this.#handlers,
      data: edge,
    };
    Bun.connect<EdgeSide>(options).catch(toldByConnectError);
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
        else if (isHungUp(error)) this.#ended(edge, error, true);
        else if (!edge.closed) this.#lost(edge, dialFailure(error), error);
      },
      data: (socket, chunk) => {
        // Bytes have always been seen to come after the handshake. Should they ever come before it, the pod still
        // takes none until it is joined: they are kept, and thrown away if the edge is not believed.
        if (!socket.data.closed) relay.pass(socket.data, socket.data.peer, chunk);
      },
      drain: (socket) => {
        if (!socket.data.closed) relay.drained(socket.data);
      },
      end: (socket) => this.#ended(socket.data, undefined),
      close: (socket, error) => this.#ended(socket.data, error, true),
      // With what a handler throws, and with a TLS session that breaks; the latter closes the socket too.
      error: (socket, error) => {
        if (!isBrokenSession(error)) this.#options.fault(socket.data.peer, error);
      },
    };
  }

  #verified(edge: EdgeSide): void {
    const { endpoints, limits, connected } = this.#options;
    const pod = edge.peer;
    edge.verified = true;
    pod.offers = undefined; // not needed again, and an idle connection is to cost little
    this.#decide(pod);
    if (pod.endpoint !== undefined) endpoints.succeeded(pod.endpoint);
    edge.socket?.setKeepAlive(true, limits.keepaliveMs);
    connected(pod, edge.socket?.alpnProtocol ?? null);
  }

  /** The FIN of the edge, or its end. Before the pod is joined there is nothing that a FIN could be passed on behind. */
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
    const { endpoints, suspected, failed } = this.#options;
    this.#decide(pod);
    this.#counters.fail(reason, this.#row);
    // That is this process's fault: no address rests for it, and the next would fare no better.
    if (reason === REASON.dial_no_resources) {
      pod.peer = null;
      failed(pod);
      return;
    }
    if (pod.endpoint !== undefined) endpoints.failed(pod.endpoint, reason === REASON.dial_timeout);
    pod.peer = null;
    suspected(reason, error);
    this.start(pod);
  }

  /** The dial is over, one way or the other. */
  #decide(pod: PodSide): void {
    if (!this.#dialling.delete(pod)) return;
    this.#counters.add(GLOBAL.dialling, -1);
    this.#counters.add(this.#row + COLUMN.dials, 1);
    const elapsedMs = this.#options.clock.nowMs() - pod.dialledMs;
    this.#counters.add(this.#row + COLUMN.dialMs, elapsedMs);
  }

  /** A TCP dial cannot be taken back; a handshake can be cut. */
  #giveUp(edge: EdgeSide): void {
    if (edge.socket !== null) {
      edge.close('reset');
      return;
    }
    edge.abandoned = true;
    this.#abandoned++;
    this.#counters.add(GLOBAL.abandonedDials, 1);
  }

  /** A dial that was given up has come to its end. */
  #settle(edge: EdgeSide): void {
    if (edge.closed) return;
    this.#abandoned--;
    this.#counters.add(GLOBAL.abandonedDials, -1);
    edge.close('reset');
  }
}
