/**
 * Mode terminate: the proxy ends the TLS of the pod and opens its own TLS connection to the edge.
 *
 *   accept ─▶ ClientHello ─▶ dial the edge, offering what the pod offers ─▶ verified ─▶ answer the pod ─▶ relay
 *
 * The proxy dials the edge first. If the edge is down, it resets the pod before the handshake. It offers the pod only
 * the protocol that the edge has chosen, so that both sides use the same protocol. For that, it reads the hello in
 * plaintext and passes it to TLS afterwards.
 *
 * It uses `upgradeTLS` of Bun 1.4 on an accepted socket, with two options that its types lack: `isServer`, and
 * `initialData` for the hello (docs/decisions/0006). Each connection gets the certificate and the protocol that are
 * current when it is answered, so a reload affects only later connections. Behavior of Bun, found by experiment:
 * - `shutdown()` sends close_notify, and reading continues. Bun reports a close_notify, and a FIN without one, as
 *   `end`.
 * - Bun still calls the handlers of the plain socket, with the ciphertext that arrives and when it closes.
 */
import type { Socket, SocketHandler } from 'bun';
import { ClientListener } from '../../engine/bun/client-listener.ts';
import { Relay } from '../../engine/bun/relay.ts';
import { systemClock, type Clock } from '../../clock/clock.ts';
import { COLUMN, type Counters } from '../../engine/counters.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ListenOptions } from '../../net/listen-address.ts';
import { BufferLimit } from '../../engine/buffer-limit.ts';
import { DEFAULT_LIMITS, type Limits } from '../../engine/limits.ts';
import { REASON } from '../../engine/reasons.ts';
import type { ServingCertificate } from '../credentials/serving-certificate.ts';
import type { EdgeLoadBalancer } from '../edge/edge-load-balancer.ts';
import { chosenAlpn } from './alpn.ts';
import { EdgeDialer } from './edge-dialer.ts';
import { PodHandshake } from './pod-handshake.ts';
import { PodSide } from './sides.ts';

/** Options of {@link Terminator}. */
export interface TerminatorOptions {
  readonly loadBalancer: EdgeLoadBalancer;
  readonly serverName: string;
  /** Returns the current certificate for pods. */
  readonly certificate: () => ServingCertificate;
  /** Returns the current authorities for the edge, as PEM. */
  readonly authorities: () => string;
  /** Counters with the reasons of {@link PROXY_REASON_CODES} and {@link HELLO_REFUSAL_CODES}. */
  readonly counters: Counters;
  readonly limits?: Partial<Limits> | undefined;
  readonly clock?: Clock | undefined;
  /** Called when an endpoint has failed, with the reason. */
  readonly suspected: (reason: number, error: Error | undefined) => void;
  readonly onFault: (error: unknown) => void;
}

/** The `data` of an accepted socket. Undefined if the connection was over a limit. */
type Accepted = PodSide | undefined;

/** The engine of mode terminate. */
export class Terminator implements Engine {
  readonly name = 'bun';
  readonly #counters: Counters;
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #onFault: (error: unknown) => void;
  readonly #row: number;
  readonly #relay: Relay;
  readonly #dialer: EdgeDialer;
  readonly #handshake: PodHandshake;
  readonly #handlers: SocketHandler<Accepted>;
  readonly #listener: ClientListener<PodSide>;
  readonly #edgeDown: number;

  constructor(options: TerminatorOptions) {
    const { counters } = options;
    this.#counters = counters;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#clock = options.clock ?? systemClock;
    this.#onFault = options.onFault;
    this.#row = counters.row(0);
    this.#edgeDown = counters.reason('edge_down');
    const allValues = [counters.values];
    this.#listener = new ClientListener<PodSide>({
      counters,
      limits: this.#limits,
      clock: this.#clock,
      allValues,
      abandonedDials: () => this.#dialer.abandoned,
      tick: () => this.#tick(),
      end: this.#end.bind(this),
    });
    const limit = new BufferLimit(this.#limits, allValues);
    this.#relay = new Relay(counters, limit, (client, reason, closeMode) => {
      if (client instanceof PodSide) this.#end(client, reason, closeMode);
    });
    this.#handshake = new PodHandshake({
      certificate: options.certificate,
      counters,
      limits: this.#limits,
      clock: this.#clock,
      relay: this.#relay,
      dial: (pod) => this.#dial(pod),
      finished: (pod) => this.#listener.unfinished.delete(pod),
      end: this.#end.bind(this),
      fault: this.#fault.bind(this),
    });
    this.#dialer = new EdgeDialer({
      loadBalancer: options.loadBalancer,
      serverName: options.serverName,
      authorities: options.authorities,
      counters,
      limits: this.#limits,
      clock: this.#clock,
      relay: this.#relay,
      connected: (pod, protocol) => this.#handshake.answer(pod, chosenAlpn(protocol)),
      failed: (pod) => this.#end(pod, this.#edgeDown, 'reset'),
      suspected: options.suspected,
      fault: this.#fault.bind(this),
    });
    this.#handlers = this.#plainHandlers();
  }

  listen(options: ListenOptions): number {
    return this.#listener.listen(options, this.#handlers);
  }

  stopAccepting(): void {
    this.#listener.stopAccepting();
  }

  closeOldest(count: number): number {
    return this.#listener.closeOldest(count);
  }

  stop(): void {
    this.#listener.stop();
  }

  /** The handlers of the plain socket. Once TLS has taken over, they receive ciphertext and ignore it. */
  #plainHandlers(): SocketHandler<Accepted> {
    const plain = (socket: Socket<Accepted>): Accepted =>
      socket.data === undefined || socket.data.isUpgraded ? undefined : socket.data;
    return {
      binaryType: 'uint8array',
      open: (socket) => {
        const nowMs = this.#clock.nowMs();
        const pod = new PodSide(socket, nowMs, nowMs + this.#limits.helloTimeoutMs);
        socket.data = this.#listener.admits(pod, socket) ? pod : undefined;
      },
      data: (socket, chunk) => {
        const pod = plain(socket);
        if (pod !== undefined) this.#handshake.received(pod, chunk);
      },
      end: (socket) => {
        const pod = plain(socket);
        if (pod !== undefined) this.#end(pod, lossReason(pod, REASON.hello_incomplete), 'close');
      },
      close: (socket) => {
        const pod = plain(socket);
        if (pod === undefined || pod.closed) return;
        pod.closed = true;
        this.#end(pod, lossReason(pod, REASON.client_reset), 'reset');
      },
      error: (socket, error) => {
        const pod = plain(socket);
        if (pod !== undefined) this.#fault(pod, error);
      },
    };
  }

  /** Dials the edge after a complete hello. From here on, the connection counts for the tenant. */
  #dial(pod: PodSide): void {
    pod.slot = 0;
    pod.row = this.#row;
    this.#counters.add(this.#row + COLUMN.open, 1);
    this.#counters.add(this.#row + COLUMN.total, 1);
    this.#relay.hold(pod, pod.firstBytes);
    if (pod.phase !== 'over') this.#dialer.start(pod);
  }

  /** Ends the connections that have timed out. A pod whose edge is being dialed has the timeout of the dial. */
  #tick(): void {
    const nowMs = this.#clock.nowMs();
    for (const pod of this.#listener.unfinished) {
      if (pod.deadlineMs <= nowMs) this.#handshake.timedOut(pod);
    }
    this.#dialer.tick(nowMs);
  }

  #fault(pod: PodSide, error: unknown): void {
    this.#onFault(error);
    this.#end(pod, REASON.fault, 'reset');
  }

  /** Ends a connection in any phase. Every connection ends here. */
  #end(pod: PodSide, reason: number, closeMode: 'close' | 'reset'): void {
    if (pod.phase === 'over') return;
    const isCounted = pod.phase === 'refused' || reason === REASON.completed;
    if (!isCounted) this.#counters.fail(reason, pod.row);
    pod.phase = 'over';
    pod.first = null;
    this.#relay.release(pod);
    this.#listener.forget(pod);
    this.#dialer.forget(pod);
    this.#relay.forget(pod);
    pod.close(closeMode);
    if (pod.peer === null) return;
    this.#relay.forget(pod.peer);
    if (!pod.peer.abandoned) pod.peer.close(closeMode);
  }
}

/** Returns the reason for a lost pod. A refused pod is expected to close, and its reason is already known. */
function lossReason(pod: PodSide, reason: number): number {
  return pod.phase === 'refused' ? pod.reason : reason;
}
