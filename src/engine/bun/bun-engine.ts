/**
 * The engine on Bun.listen and Bun.connect: no foreign functions, every platform. The reference, and the fallback.
 *
 * What Bun 1.4.4 can and cannot do, found by experiment:
 * - `terminate()` resets; `end()` sends a FIN, and a reset if there are unread bytes; `shutdown()` is a half-close.
 * - After our FIN the peer's comes as `close` without an error, with no `end` before it. A reset is `close` with an error.
 * - A paused socket keeps bytes and FIN for later, even if both FINs are through, and costs no CPU meanwhile.
 * - A dial cannot be taken back. After a timeout it goes on in the kernel (tcp_syn_retries: two minutes); it is counted
 *   as `abandonedDials`, takes a place of `maxConnections`, and is reset should it ever succeed.
 * - A dial for want of file descriptors fails as ECONNREFUSED, so it counts as `dial_refused`.
 * - Accepting cannot be paused, so what is over a limit is accepted and reset. The backlog cannot be chosen.
 * - Out of file descriptors Bun spins, a whole CPU for as long as the backlog has a connection. So it must not come to
 *   that: see {@link DESCRIPTOR_RESERVE}.
 * - Keepalive probes go out each second, ten of them; only the silence before them can be set.
 */
import type { SocketHandler, TCPSocketListener } from 'bun';
import { systemClock, type Clock } from '../clock.ts';
import { COLUMN, GLOBAL, type Counters } from '../counters.ts';
import type { Ending, Engine, EngineOptions, ListenOptions, Switchboard } from '../engine.ts';
import { DEFAULT_LIMITS, DESCRIPTOR_RESERVE, type Limits } from '../limits.ts';
import { REASON } from '../reasons.ts';
import { descriptorOf, listenPlain } from './plain-listener.ts';
import { Reception } from './reception.ts';
import { Relay } from './relay.ts';
import { ClientSide } from './side.ts';
import { UnfinishedHellos } from '../unfinished-hellos.ts';

const TICK_MS = 1000;

/** What hangs on an accepted socket; nothing if it was over a limit. */
type Accepted = ClientSide | undefined;

/** An engine of this kind. */
export class BunEngine implements Engine {
  readonly name = 'bun';

  readonly #switchboard: Switchboard;
  readonly #counters: Counters;
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #onFault: (error: unknown) => void;

  readonly #relay: Relay;
  readonly #reception: Reception;
  readonly #handlers: SocketHandler<Accepted>;
  readonly #listeners: TCPSocketListener<Accepted>[] = [];

  /** A Set keeps its order: the oldest comes first. */
  readonly #clients = new Set<ClientSide>();
  readonly #unfinished: UnfinishedHellos<ClientSide>;
  #stopTick: (() => void) | undefined;

  constructor(options: EngineOptions) {
    this.#switchboard = options.switchboard;
    this.#counters = options.counters;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#clock = options.clock ?? systemClock;
    this.#onFault = options.onFault;
    this.#unfinished = new UnfinishedHellos(
      this.#limits,
      this.#counters,
      (client: ClientSide) => client.remoteAddress,
    );
    this.#relay = new Relay(this.#counters, this.#end.bind(this));
    this.#reception = new Reception({
      switchboard: this.#switchboard,
      counters: this.#counters,
      limits: this.#limits,
      clock: this.#clock,
      relay: this.#relay,
      unfinished: this.#unfinished,
      end: this.#end.bind(this),
      fault: this.#fault.bind(this),
    });
    this.#handlers = this.#clientHandlers();
  }

  listen(options: ListenOptions): number {
    const listener = listenPlain(options, this.#handlers);
    this.#listeners.push(listener);
    this.#stopTick ??= this.#clock.every(TICK_MS, () => this.#tick());
    return listener.port;
  }

  stopAccepting(): void {
    for (const listener of this.#listeners.splice(0)) listener.stop();
  }

  closeOldest(count: number): number {
    let closed = 0;
    for (const client of this.#clients) {
      if (closed === count) break;
      // A FIN may only come behind the last byte: what is cut short has to look like it.
      const isWhole = client.queue === null && (client.peer?.queue ?? null) === null;
      this.#end(client, REASON.drained, isWhole ? 'close' : 'reset');
      closed++;
    }
    return closed;
  }

  stop(): void {
    this.stopAccepting();
    for (const client of this.#clients) this.#end(client, REASON.stopped, 'reset');
    this.#stopTick?.();
    this.#stopTick = undefined;
  }

  #clientHandlers(): SocketHandler<Accepted> {
    return {
      binaryType: 'uint8array',
      open: (socket) => {
        const nowMs = this.#clock.nowMs();
        const client = new ClientSide(socket, nowMs, nowMs + this.#limits.helloTimeoutMs);
        socket.data = this.#admits(client, descriptorOf(socket)) ? client : undefined;
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
      // Bun comes here with what a handler throws, not with errors of the network.
      error: (socket, error) => {
        if (socket.data !== undefined) this.#fault(socket.data, error);
      },
    };
  }

  /** A pair that has lived for a tick gets its keepalive: eight system calls that a short one need not pay for. */
  #tick(): void {
    this.#reception.tick();
    for (const client of this.#clients) {
      if (client.settled || client.stage !== 'joined') continue;
      client.settled = true;
      client.socket?.setKeepAlive(true, this.#limits.keepaliveMs);
      client.peer?.socket?.setKeepAlive(true, this.#limits.keepaliveMs);
    }
  }

  #admits(client: ClientSide, fd: number): boolean {
    this.#counters.add(GLOBAL.accepted, 1);
    const refusal = this.#overLimit(fd) ?? this.#unfinished.admit(client);
    if (refusal !== undefined) {
      this.#counters.fail(refusal, -1);
      client.close('reset');
      return false;
    }
    this.#clients.add(client);
    this.#counters.add(GLOBAL.open, 1);
    const needsAddresses =
      this.#switchboard.ended !== undefined || this.#switchboard.preface !== undefined;
    if (!needsAddresses || client.lookUp().remoteAddress !== '') return true;
    this.#end(client, REASON.client_reset, 'reset'); // it was gone before it was here
    return false;
  }

  #overLimit(fd: number): number | undefined {
    const { maxConnections, maxDescriptors } = this.#limits;
    const { dialling, abandonedDials } = this.#reception;
    if (this.#clients.size + abandonedDials >= maxConnections) return REASON.connections_limit;
    const wanted = this.#unfinished.size + dialling;
    return fd + wanted + DESCRIPTOR_RESERVE >= maxDescriptors
      ? REASON.descriptors_limit
      : undefined;
  }

  #received(client: ClientSide, chunk: Uint8Array): void {
    if (client.stage !== 'joined') this.#reception.received(client, chunk);
    else if (client.peer !== null) this.#relay.pass(client, client.peer, chunk);
  }

  #sawFin(client: ClientSide): void {
    client.sawFin = true;
    if (client.stage === 'joined' && client.peer !== null) this.#relay.fin(client, client.peer);
    else if (client.stage === 'hello') this.#end(client, REASON.hello_cut, 'close');
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

  /** The one way out of every stage. */
  #end(client: ClientSide, reason: number, how: 'close' | 'reset'): void {
    if (client.stage === 'over') return;
    const isCounted = client.stage === 'refused' || reason === REASON.completed;
    if (!isCounted) this.#counters.fail(reason, client.row);
    client.stage = 'over';
    client.reason = reason;
    client.first = null;
    this.#clients.delete(client);
    this.#reception.leave(client);
    this.#counters.add(GLOBAL.open, -1);
    if (client.row >= 0) this.#counters.add(client.row + COLUMN.open, -1);

    this.#relay.forget(client);
    client.close(how);
    if (client.peer !== null) {
      this.#relay.forget(client.peer);
      client.peer.close(how);
    }
    this.#tellEnded(client);
  }

  #tellEnded(client: ClientSide): void {
    if (this.#switchboard.ended === undefined) return;
    const ending: Ending = {
      caller: client,
      reason: client.reason,
      endpoint: client.endpoint,
      slot: client.slot,
      attempts: client.attempts,
      bytesUp: client.peer?.bytes ?? 0,
      bytesDown: client.bytes,
      durationMs: this.#clock.nowMs() - client.acceptedMs,
    };
    try {
      this.#switchboard.ended(ending);
    } catch (error) {
      this.#onFault(error); // the connection is over already
    }
  }
}
