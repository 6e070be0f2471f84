/** Carries out decisions to dial: dials the endpoint, enforces the timeout, and starts the relay. */
import type { Clock } from '../../clock/clock.ts';
import { COLUMN, GLOBAL, type Counters } from '../counters.ts';
import type { Endpoint } from '../endpoint.ts';
import { PREFACE_LIMIT_BYTES, type Dial, type Router } from '../engine.ts';
import { keepsReserve, type Limits } from '../limits.ts';
import { REASON } from '../reasons.ts';
import type { Decision } from '../decision.ts';
import type { EpollClientConnection } from './client-connection.ts';
import { FLAG, LIST, STAGE, type SocketTable } from './socket-table.ts';
import * as libc from '../../system/libc.ts';
import { errno } from '../../system/libc.ts';
import { ERRNO } from '../../system/linux.ts';
import type { Poller } from '../../system/poller.ts';
import type { Relay } from './relay/relay.ts';
import { connect, openFor, takeError } from './socket.ts';
import { WaitingList } from './waiting-list.ts';

/** Options of {@link Dialer}. */
export interface DialerOptions {
  readonly router: Router;
  readonly counters: Counters;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly sockets: SocketTable;
  readonly poller: Poller;
  readonly relay: Relay;
  readonly connection: EpollClientConnection;
}

/** One dial. The object is reused, so that a dial allocates nothing. */
class EpollDial implements Dial {
  #endpoint: Endpoint | undefined;
  slot = -1;
  attempt = 0;
  reason = 0;
  elapsedMs = 0;

  get endpoint(): Endpoint {
    if (this.#endpoint === undefined) throw new Error('no dial has been decided yet');
    return this.#endpoint;
  }
  set endpoint(endpoint: Endpoint | undefined) {
    this.#endpoint = endpoint;
  }
}

/** The dials of one engine. */
export class Dialer {
  /** The dial that finished last. */
  readonly dial = new EpollDial();

  readonly #options: DialerOptions;
  readonly #counters: Counters;
  readonly #sockets: SocketTable;
  /** Clients whose upstream is being dialed, oldest first. */
  readonly #dialing: WaitingList;
  readonly #prefaceRoom = Buffer.alloc(PREFACE_LIMIT_BYTES);

  constructor(options: DialerOptions) {
    this.#options = options;
    this.#counters = options.counters;
    this.#sockets = options.sockets;
    this.#dialing = new WaitingList(options.sockets, LIST.dial);
  }

  /**
   * Starts a dial. Returns false if it failed at once; {@link dial} has the reason. @throws RangeError if there is no
   * such slot.
   */
  start(client: number, decision: Decision, tick: number): boolean {
    const { endpoint, dropBytes } = decision;
    if (endpoint === undefined) throw new TypeError('a decision to dial without an endpoint');
    if (dropBytes > this.#options.limits.maxFirstBytes) {
      throw new RangeError(`${dropBytes} bytes to drop exceed the maximum number of first bytes`);
    }
    const sockets = this.#sockets;
    this.#enterSlot(client, decision.slot);
    sockets.stage[client] = STAGE.dialing;
    sockets.endpoints[client] = endpoint;
    sockets.dropBytes[client] = dropBytes;
    if (decision.hasPreface) sockets.set(client, FLAG.prefaced);
    else sockets.clear(client, FLAG.prefaced);
    sockets.attempts[client] = (sockets.attempts[client] ?? 0) + 1;
    sockets.stageMs[client] = this.#options.clock.nowMs();
    this.#dialing.add(client);
    this.#counters.add(GLOBAL.dialing, 1);
    const failure = this.#connect(client, endpoint, tick);
    if (failure === undefined) return true;
    this.#record(client, failure);
    return false;
  }

  /** Handles an event of a dial and reports whether it succeeded. If not, {@link dial} has the reason. */
  complete(upstream: number, isError: boolean): boolean {
    const client = this.#sockets.peerOf(upstream);
    if (isError) {
      this.#fail(client, dialFailure(takeError(upstream)));
      return false;
    }
    this.#record(client, REASON.completed);
    this.#sockets.stage[upstream] = STAGE.joined;
    this.#sockets.stage[client] = STAGE.joined;
    return true;
  }

  /** Notifies the router, and sends the first bytes to the upstream. */
  join(client: number): void {
    const { router, relay, connection } = this.#options;
    router.connected?.(this.dial, connection.at(client));
    relay.start(
      client,
      this.#sockets.has(client, FLAG.prefaced) ? this.#preface(client) : undefined,
    );
  }

  /** Forgets a client whose connection has ended. */
  forget(client: number): void {
    if (!this.#dialing.delete(client)) return;
    this.#counters.add(GLOBAL.dialing, -1);
  }

  /**
   * Fails the dials that have timed out, and yields the client of each. {@link dial} is then the dial of that client.
   */
  *failExpired(): IterableIterator<number> {
    const latestMs = this.#options.clock.nowMs() - this.#options.limits.dialTimeoutMs;
    for (const client of this.#dialing) {
      if ((this.#sockets.stageMs[client] ?? 0) > latestMs) break;
      this.#fail(client, REASON.dial_timeout);
      yield client;
    }
  }

  #connect(client: number, endpoint: Endpoint, tick: number): number | undefined {
    const { poller } = this.#options;
    const sockets = this.#sockets;
    const upstream = openFor(endpoint);
    if (upstream < 0) return REASON.dial_no_resources;
    // Two threads may each admit a client at the same moment. Their dials must not use the reserve of the process.
    if (!keepsReserve(this.#options.limits, upstream, 0)) {
      libc.close(upstream);
      return REASON.dial_no_resources;
    }
    if (connect(upstream, endpoint) < 0) {
      const failure = errno();
      if (failure !== ERRNO.EINPROGRESS) {
        libc.close(upstream);
        return dialFailure(failure);
      }
    }
    sockets.openUpstream(upstream, client, tick);
    const row = sockets.row[client] ?? -1;
    sockets.bytesAt[upstream] = row + COLUMN.bytesUp;
    sockets.bytesAt[client] = row + COLUMN.bytesDown;
    if (poller.watch(upstream, sockets.generationOf(upstream))) return undefined;
    this.#closeUpstream(client);
    return REASON.dial_no_resources;
  }

  #enterSlot(client: number, slot: number): void {
    const sockets = this.#sockets;
    if (sockets.slot[client] === slot) return;
    const previousRow = sockets.row[client] ?? -1;
    const row = this.#counters.row(slot);
    if (previousRow >= 0) this.#counters.add(previousRow + COLUMN.open, -1);
    this.#counters.add(row + COLUMN.open, 1);
    this.#counters.add(row + COLUMN.total, 1);
    sockets.slot[client] = slot;
    sockets.row[client] = row;
  }

  #fail(client: number, reason: number): void {
    this.#closeUpstream(client);
    this.#record(client, reason);
  }

  #closeUpstream(client: number): void {
    const upstream = this.#sockets.peerOf(client);
    this.#sockets.free(upstream);
    libc.close(upstream);
    this.#sockets.peer[client] = -1;
  }

  #preface(client: number): Buffer {
    const { router, connection } = this.#options;
    const length = router.preface?.(this.dial, connection.at(client), this.#prefaceRoom) ?? 0;
    return this.#prefaceRoom.subarray(0, length);
  }

  /** Records the result of a finished dial. */
  #record(client: number, reason: number): void {
    this.forget(client);
    const { dial } = this;
    const sockets = this.#sockets;
    const row = sockets.row[client] ?? -1;
    dial.endpoint = sockets.endpoints[client];
    dial.slot = sockets.slot[client] ?? -1;
    dial.attempt = sockets.attempts[client] ?? 0;
    dial.reason = reason;
    dial.elapsedMs = this.#options.clock.nowMs() - (sockets.stageMs[client] ?? 0);
    this.#counters.recordDial(row, dial.elapsedMs);
    if (reason !== REASON.completed) this.#counters.fail(reason, row);
  }
}

/** Returns the reason for a system error. */
function dialFailure(failure: number): number {
  switch (failure) {
    case ERRNO.ECONNREFUSED:
    case ERRNO.ECONNRESET:
      return REASON.dial_refused;
    case ERRNO.ETIMEDOUT:
      return REASON.dial_timeout;
    case ERRNO.EHOSTUNREACH:
    case ERRNO.ENETUNREACH:
      return REASON.dial_unreachable;
    case ERRNO.EADDRNOTAVAIL: // every local port is in use
    case ERRNO.ENOBUFS:
    case ERRNO.ENOMEM:
      return REASON.dial_no_resources;
    default:
      return REASON.dial_failed;
  }
}
