/**
 * The fast engine. It uses Linux system calls (epoll, splice) and leaves bytes in the kernel where possible. `make
 * bench` compares its cost with HAProxy (docs/bench.md).
 *
 * - State is in typed arrays by descriptor (socket-table.ts), so a connection allocates nothing.
 * - Each socket costs one epoll_ctl in its whole life (poller.ts). The hello stays in the kernel (acceptor.ts).
 * - One tick per second drives all timeouts and recovers stuck sockets (sweep.ts).
 * - An exception while an event is handled costs that connection, not the engine.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { COLUMN, GLOBAL, type Counters } from '../counters.ts';
import type { Endpoint } from '../endpoint.ts';
import type { ClosedConnection, Engine, EngineOptions, Router } from '../engine.ts';
import type { ListenOptions } from '../../net/listen-address.ts';
import { BufferLimit } from '../buffer-limit.ts';
import {
  DEFAULT_LIMITS,
  keepsReserve,
  overLimit,
  wantedDescriptors,
  type Limits,
} from '../limits.ts';
import { REASON } from '../reasons.ts';
import { UnfinishedHellos } from '../unfinished-hellos.ts';
import { EpollClientConnection } from './client-connection.ts';
import { Dialer } from './dialer.ts';
import { SocketTable, FLAG, LIST, STAGE } from './socket-table.ts';
import * as libc from '../../system/libc.ts';
import { EPOLL } from '../../system/linux.ts';
import { Listeners } from './listeners.ts';
import { Loop, type LoopHandler } from './loop.ts';
import { Poller } from '../../system/poller.ts';
import { Acceptor } from './acceptor.ts';
import { Pipes } from './relay/pipes.ts';
import { HEAD_ROOM_BYTES, Relay } from './relay/relay.ts';
import { Sweep } from './sweep.ts';
import { WaitingList } from './waiting-list.ts';
import { closeWithReset } from './socket.ts';

const TICK_MS = 1000;

/**
 * A reader may use at most 1/BUFFER_SHARES of the buffer limit. So no connection is reset while half of the limit is
 * free.
 */
const BUFFER_SHARES = 4;

const HANGUP = EPOLL.RDHUP | EPOLL.HUP | EPOLL.ERR;

/** The result of a closed connection. The object is reused. */
class EpollClosedConnection implements ClosedConnection {
  readonly connection: EpollClientConnection;
  reason = 0;
  endpoint: Endpoint | undefined;
  slot = -1;
  attempts = 0;
  bytesUp = 0;
  bytesDown = 0;
  durationMs = 0;

  constructor(connection: EpollClientConnection) {
    this.connection = connection;
  }
}

/** The engine on epoll. */
export class EpollEngine implements Engine, LoopHandler {
  readonly name = 'epoll';

  readonly #router: Router;
  readonly #counters: Counters;
  readonly #allValues: readonly Float64Array[];
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #onFault: (error: unknown) => void;

  readonly #sockets = new SocketTable();
  readonly #poller: Poller;
  readonly #loop: Loop;
  readonly #connection = new EpollClientConnection(this.#sockets);
  readonly #closed = new EpollClosedConnection(this.#connection);
  readonly #relay: Relay;
  readonly #dialer: Dialer;
  readonly #acceptor: Acceptor;
  readonly #sweep: Sweep;
  readonly #unfinished: UnfinishedHellos<number>;

  readonly #listeners: Listeners;

  #clients = 0;
  #tick = 0;
  #stopTick: (() => void) | undefined;
  #isStopped = false;

  /** @throws Error if Bun's loop cannot be found in this thread. */
  constructor(options: EngineOptions, poller = new Poller()) {
    this.#poller = poller;
    this.#router = options.router;
    this.#counters = options.counters;
    this.#allValues = options.allValues ?? [options.counters.values];
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#clock = options.clock ?? systemClock;
    this.#onFault = options.onFault;
    if (this.#limits.maxFirstBytes > HEAD_ROOM_BYTES) {
      const { maxFirstBytes } = this.#limits;
      throw new RangeError(`${maxFirstBytes} first bytes are more than ${HEAD_ROOM_BYTES}`);
    }
    this.#loop = new Loop(this.#poller, this);
    const end = this.#end.bind(this);
    const fault = this.#fault.bind(this);
    this.#relay = new Relay({
      sockets: this.#sockets,
      counters: this.#counters,
      limit: new BufferLimit(this.#limits, this.#allValues),
      pipes: new Pipes((fd) => keepsReserve(this.#limits, fd, wantedDescriptors(this.#allValues))),
      maxPieceBytes: Math.floor(this.#limits.maxBufferedBytes / BUFFER_SHARES),
      done: end,
      fault,
    });
    const parts = {
      router: this.#router,
      counters: this.#counters,
      limits: this.#limits,
      clock: this.#clock,
      sockets: this.#sockets,
      poller: this.#poller,
      relay: this.#relay,
      connection: this.#connection,
    };
    this.#unfinished = new UnfinishedHellos(
      {
        limits: this.#limits,
        counters: this.#counters,
        addressOf: (client: number) => this.#connection.at(client).remoteAddress,
        isSharedSource: (address) => this.#router.isSharedSource?.(address) ?? false,
      },
      new WaitingList(this.#sockets, LIST.hello),
    );
    this.#dialer = new Dialer(parts);
    this.#acceptor = new Acceptor({
      ...parts,
      dialer: this.#dialer,
      unfinished: this.#unfinished,
      end,
      fault,
    });
    const { keepaliveMs } = this.#limits;
    this.#listeners = new Listeners({ ...parts, keepaliveMs, admit: this.#admit.bind(this) });
    this.#sweep = new Sweep({ ...parts, keepaliveMs, onEvent: this.onEvent.bind(this) });
  }

  listen(options: ListenOptions): number {
    const port = this.#listeners.open(options);
    this.#stopTick ??= this.#clock.every(TICK_MS, () => this.#onTick());
    this.#loop.start();
    return port;
  }

  stopAccepting(): void {
    this.#listeners.close();
  }

  closeOldest(count: number): number {
    const oldest = this.#openClients().slice(0, count);
    for (const client of oldest) this.#end(client, REASON.drained, this.#closeMode(client));
    return oldest.length;
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.stopAccepting();
    for (const client of this.#openClients()) this.#end(client, REASON.stopped, 'reset');
    this.#stopTick?.();
    this.#stopTick = undefined;
    this.#loop.stop();
    this.#relay.closeSpare();
    this.#poller.close();
  }

  get maxSleepMs(): number {
    return this.#relay.maxSleepMs;
  }

  onEvent(fd: number, events: number, generation: number): void {
    try {
      // A different generation: an earlier event of this batch has closed the descriptor, and perhaps reused it.
      if (this.#sockets.generationOf(fd) === generation) this.#changed(fd, events, generation);
    } catch (error) {
      this.#fault(fd, error);
    }
  }

  afterEvents(): void {
    this.#relay.runQueues();
  }

  #admit(client: number, listener: number): void {
    this.#counters.add(GLOBAL.accepted, 1);
    this.#sockets.openClient(client, listener, this.#clock.nowMs(), this.#tick);
    const wanted = wantedDescriptors(this.#allValues);
    const refusal =
      overLimit(this.#limits, this.#clients, client, wanted) ?? this.#unfinished.admit(client);
    if (refusal !== undefined) {
      this.#counters.fail(refusal, -1);
      this.#close(client, 'reset');
      return;
    }
    this.#clients++;
    this.#counters.add(GLOBAL.open, 1);
    // If the hello has arrived already, this triggers an event for it.
    const isWatched = this.#poller.watch(client, this.#sockets.generationOf(client));
    if (!isWatched) this.#end(client, REASON.descriptors_limit, 'reset');
  }

  #changed(fd: number, events: number, generation: number): void {
    const sockets = this.#sockets;
    const stage = sockets.stageOf(fd);
    if (stage === STAGE.listening) {
      this.#listeners.accept(fd);
      return;
    }
    sockets.lastTick[fd] = this.#tick;
    if (stage === STAGE.connecting) {
      if ((events & (EPOLL.OUT | EPOLL.ERR | EPOLL.HUP)) === 0) return;
      this.#dialAnswered(fd, (events & (EPOLL.ERR | EPOLL.HUP)) !== 0);
      if (sockets.generationOf(fd) !== generation) return;
    }
    if ((events & (EPOLL.IN | HANGUP)) !== 0) sockets.set(fd, FLAG.readable);
    if ((events & EPOLL.PRI) !== 0) sockets.set(fd, FLAG.urgent);
    if ((events & EPOLL.RDHUP) !== 0 && (events & EPOLL.ERR) === 0) sockets.set(fd, FLAG.finComing);
    if (sockets.stageOf(fd) === STAGE.joined) this.#move(fd, events, generation);
    else if ((events & (EPOLL.IN | HANGUP)) !== 0) {
      this.#acceptor.changed(fd, (events & EPOLL.ERR) !== 0);
    }
  }

  #dialAnswered(upstream: number, isError: boolean): void {
    const client = this.#sockets.peerOf(upstream);
    try {
      if (this.#dialer.complete(upstream, isError)) this.#dialer.join(client);
      else this.#acceptor.dialFailed(client);
    } catch (error) {
      this.#fault(client, error); // the upstream may be gone
    }
  }

  /** Handles an event of a joined pair: readable, writable, or lost. */
  #move(fd: number, events: number, generation: number): void {
    const sockets = this.#sockets;
    const isLost = (events & EPOLL.ERR) !== 0;
    if (isLost) sockets.set(fd, FLAG.resetComing);
    // Its unread bytes come first, unless its peer does not accept them: the reset would destroy the waiting bytes too.
    if (
      isLost &&
      (sockets.has(fd, FLAG.finRead) || sockets.has(sockets.peerOf(fd), FLAG.blocked))
    ) {
      this.#relay.lost(fd);
      return;
    }
    if (sockets.has(fd, FLAG.blocked) && (events & (EPOLL.OUT | HANGUP)) !== 0) {
      this.#relay.unblock(fd);
      if (sockets.generationOf(fd) !== generation) return;
    }
    if (sockets.has(fd, FLAG.readable)) this.#relay.pump(fd);
  }

  #onTick(): void {
    this.#tick = (this.#tick + 1) | 0;
    this.#listeners.wake();
    this.#acceptor.tick(this.#tick);
    this.#sweep.run(this.#tick);
    this.#relay.tick();
  }

  /** Ends the connection of this socket because of a bug. */
  #fault(fd: number, error: unknown): void {
    this.#onFault(error);
    const stage = this.#sockets.stageOf(fd);
    if (stage === STAGE.free || stage === STAGE.listening) return;
    this.#end(this.#sockets.clientOf(fd), REASON.fault, 'reset');
  }

  #openClients(): number[] {
    const sockets = this.#sockets;
    const clients: number[] = [];
    for (let fd = 0; fd < sockets.limit; fd++) if (sockets.has(fd, FLAG.client)) clients.push(fd);
    const serial = (client: number) => sockets.serial[client] ?? 0;
    return clients.sort((first, second) => (serial(first) - serial(second)) | 0);
  }

  /** Returns how to end a connection. A FIN may only follow the last byte; a truncated stream must end with a reset. */
  #closeMode(client: number): 'close' | 'reset' {
    const upstream = this.#sockets.peerOf(client);
    const isDelivered =
      !this.#relay.holds(client) && (upstream < 0 || !this.#relay.holds(upstream));
    return isDelivered ? 'close' : 'reset';
  }

  /** Ends a connection in any stage. Every connection ends here. */
  #end(client: number, reason: number, closeMode: 'close' | 'reset'): void {
    const sockets = this.#sockets;
    const row = sockets.row[client] ?? -1;
    const refusedFor = this.#acceptor.forget(client);
    const isCounted = refusedFor !== undefined || reason === REASON.completed;
    if (!isCounted) this.#counters.fail(reason, row);
    this.#clients--;
    this.#counters.add(GLOBAL.open, -1);
    if (row >= 0) this.#counters.add(row + COLUMN.open, -1);
    const upstream = sockets.peerOf(client);
    if (this.#router.ended !== undefined) this.#notifyEnded(client, upstream, refusedFor ?? reason);
    this.#relay.forget(client);
    this.#close(client, closeMode);
    if (upstream < 0) return;
    this.#relay.forget(upstream);
    this.#close(upstream, closeMode);
  }

  #close(fd: number, closeMode: 'close' | 'reset'): void {
    this.#sockets.free(fd);
    if (closeMode === 'reset') closeWithReset(fd);
    else libc.close(fd);
  }

  /** Notifies the router while the socket is open, because a closed one has no addresses. */
  #notifyEnded(client: number, upstream: number, reason: number): void {
    const sockets = this.#sockets;
    const closed = this.#closed;
    this.#connection.at(client);
    closed.reason = reason;
    closed.endpoint = sockets.endpoints[client];
    closed.slot = sockets.slot[client] ?? -1;
    closed.attempts = sockets.attempts[client] ?? 0;
    closed.bytesUp = upstream < 0 ? 0 : (sockets.bytes[upstream] ?? 0);
    closed.bytesDown = sockets.bytes[client] ?? 0;
    closed.durationMs = this.#clock.nowMs() - (sockets.acceptedMs[client] ?? 0);
    try {
      this.#router.ended?.(closed);
    } catch (error) {
      this.#onFault(error); // the connection is over already
    }
  }
}
