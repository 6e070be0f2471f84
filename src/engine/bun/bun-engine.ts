/**
 * The engine on Bun.listen and Bun.connect. It calls no foreign functions and works on every platform. It is the
 * reference and the fallback.
 *
 * Behavior of Bun 1.4.4, found by experiment:
 * - `terminate()` resets. `end()` sends a FIN, and a reset if there are unread bytes. `shutdown()` is a half-close.
 * - After our FIN, Bun reports the peer's FIN as `close` without an error, with no `end` before it. A reset is `close`
 *   with an error.
 * - A paused socket holds bytes and FIN back, even after both FINs, and uses no CPU meanwhile.
 * - A dial cannot be canceled. After a timeout it continues in the kernel (tcp_syn_retries: two minutes). The engine
 *   counts it in `abandonedDials` and against `maxConnections`, and resets it if it ever succeeds.
 * - A dial without a free file descriptor fails as ECONNREFUSED (dial-failure.ts).
 * - Accepting cannot be paused, so connections over a limit are accepted and reset. The backlog cannot be configured.
 * - Without free file descriptors, Bun uses a whole CPU for as long as a connection waits in the backlog. The engine
 *   prevents that: it never gives the last descriptors to clients (limits.ts).
 * - Bun sends ten keepalive probes, one per second. Only the idle time before them can be configured.
 */
import type { SocketHandler } from 'bun';
import { systemClock, type Clock } from '../../clock/clock.ts';
import type { Counters } from '../counters.ts';
import type { ClosedConnection, Engine, EngineOptions, Router } from '../engine.ts';
import type { ListenOptions } from '../../net/listen-address.ts';
import { BufferLimit } from '../buffer-limit.ts';
import { DEFAULT_LIMITS, type Limits } from '../limits.ts';
import { REASON } from '../reasons.ts';
import { ClientListener } from './client-listener.ts';
import { Acceptor } from './acceptor.ts';
import { Relay } from './relay.ts';
import { ClientSide } from './side.ts';

/** The `data` of an accepted socket. Undefined if the connection was over a limit. */
type Accepted = ClientSide | undefined;

/** The engine on sockets of Bun. */
export class BunEngine implements Engine {
  readonly name = 'bun';

  readonly #router: Router;
  readonly #counters: Counters;
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #onFault: (error: unknown) => void;

  readonly #relay: Relay;
  readonly #acceptor: Acceptor;
  readonly #handlers: SocketHandler<Accepted>;
  readonly #listener: ClientListener<ClientSide>;

  constructor(options: EngineOptions) {
    this.#router = options.router;
    this.#counters = options.counters;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#clock = options.clock ?? systemClock;
    this.#onFault = options.onFault;
    const allValues = options.allValues ?? [this.#counters.values];
    this.#listener = new ClientListener<ClientSide>({
      counters: this.#counters,
      limits: this.#limits,
      clock: this.#clock,
      allValues,
      isSharedSource: (address) => this.#router.isSharedSource?.(address) ?? false,
      abandonedDials: () => this.#acceptor.abandonedDials,
      tick: () => this.#acceptor.tick(),
      end: this.#end.bind(this),
    });
    const limit = new BufferLimit(this.#limits, allValues);
    this.#relay = new Relay(this.#counters, limit, this.#end.bind(this));
    this.#acceptor = new Acceptor({
      router: this.#router,
      counters: this.#counters,
      limits: this.#limits,
      clock: this.#clock,
      relay: this.#relay,
      unfinished: this.#listener.unfinished,
      end: this.#end.bind(this),
      fault: this.#fault.bind(this),
    });
    this.#handlers = this.#clientHandlers();
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

  #clientHandlers(): SocketHandler<Accepted> {
    return {
      binaryType: 'uint8array',
      open: (socket) => {
        const nowMs = this.#clock.nowMs();
        const client = new ClientSide(socket, nowMs, nowMs + this.#limits.helloTimeoutMs);
        const isAdmitted = this.#listener.admits(client, socket) && this.#knowsAddresses(client);
        socket.data = isAdmitted ? client : undefined;
      },
      data: (socket, chunk) => {
        if (socket.data !== undefined) this.#received(socket.data, chunk);
      },
      drain: (socket) => {
        if (socket.data !== undefined) this.#relay.drained(socket.data);
      },
      end: (socket) => {
        if (socket.data !== undefined) this.#sawFin(socket.data);
      },
      close: (socket, error) => {
        if (socket.data !== undefined) this.#closed(socket.data, error);
      },
      // Bun calls this with exceptions of handlers, not with network errors.
      error: (socket, error) => {
        if (socket.data !== undefined) this.#fault(socket.data, error);
      },
    };
  }

  /**
   * Reports whether the router has the addresses that it needs. A client that has already closed its connection has no
   * addresses; this method then ends the connection.
   */
  #knowsAddresses(client: ClientSide): boolean {
    const areNeeded = this.#router.ended !== undefined || this.#router.preface !== undefined;
    if (!areNeeded || client.lookUp().remoteAddress !== '') return true;
    this.#end(client, REASON.client_reset, 'reset');
    return false;
  }

  #received(client: ClientSide, chunk: Uint8Array): void {
    if (client.stage !== 'joined') this.#acceptor.received(client, chunk);
    else if (client.peer !== null) this.#relay.pass(client, client.peer, chunk);
  }

  #sawFin(client: ClientSide): void {
    client.sawFin = true;
    if (client.stage === 'joined' && client.peer !== null) this.#relay.fin(client, client.peer);
    else if (client.stage === 'hello') this.#end(client, REASON.hello_incomplete, 'close');
    else if (client.stage === 'refused') this.#end(client, client.reason, 'close');
  }

  #closed(client: ClientSide, error: Error | undefined): void {
    if (client.closed) return;
    if (client.stage === 'joined' && client.peer !== null) {
      this.#relay.closed(client, client.peer, error);
      return;
    }
    client.closed = true;
    const isRefused = client.stage === 'refused';
    this.#end(client, isRefused ? client.reason : REASON.client_reset, 'reset');
  }

  #fault(client: ClientSide, error: unknown): void {
    this.#onFault(error);
    this.#end(client, REASON.fault, 'reset');
  }

  /** Ends a connection in any stage. Every connection ends here. */
  #end(client: ClientSide, reason: number, closeMode: 'close' | 'reset'): void {
    if (client.stage === 'over') return;
    const isCounted = client.stage === 'refused' || reason === REASON.completed;
    if (!isCounted) this.#counters.fail(reason, client.row);
    client.stage = 'over';
    client.reason = reason;
    client.first = null;
    this.#listener.forget(client);
    this.#acceptor.forget(client);
    this.#relay.forget(client);
    client.close(closeMode);
    if (client.peer !== null) {
      this.#relay.forget(client.peer);
      client.peer.close(closeMode);
    }
    this.#notifyEnded(client);
  }

  #notifyEnded(client: ClientSide): void {
    if (this.#router.ended === undefined) return;
    const closed: ClosedConnection = {
      connection: client,
      reason: client.reason,
      endpoint: client.endpoint,
      slot: client.slot,
      attempts: client.attempts,
      bytesUp: client.peer?.bytes ?? 0,
      bytesDown: client.bytes,
      durationMs: this.#clock.nowMs() - client.acceptedMs,
    };
    try {
      this.#router.ended(closed);
    } catch (error) {
      this.#onFault(error); // the connection is over already
    }
  }
}
