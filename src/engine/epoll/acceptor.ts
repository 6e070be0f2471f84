/**
 * Takes a connection from its first byte until it has an upstream: asks the router, and applies its decision.
 *
 * The engine only peeks at the first bytes (MSG_PEEK). They stay in the kernel until the upstream has answered. So
 * nothing is buffered or reassembled here, and a slow dial costs no memory. More bytes are a new edge: the engine peeks
 * at all of them again.
 */
import type { Counters } from '../counters.ts';
import { REASON } from '../reasons.ts';
import type { UnfinishedHellos } from '../unfinished-hellos.ts';
import { Decision } from '../decision.ts';
import type { Dialer, DialerOptions } from './dialer.ts';
import { FLAG, LIST, STAGE, type SocketTable } from './socket-table.ts';
import * as libc from '../../system/libc.ts';
import { Arena, errno } from '../../system/libc.ts';
import { ERRNO, MSG, SHUT_WR } from '../../system/linux.ts';
import { HEAD_ROOM_BYTES, type Done, type Fault } from './relay/relay.ts';
import { WaitingList } from './waiting-list.ts';

/** Number of bytes of a refused client that one call discards, and maximum number of such calls in a row. */
const DISCARD_BYTES = 1 << 20;
const DISCARD_ROUNDS = 8;

interface AcceptorOptions extends DialerOptions {
  readonly dialer: Dialer;
  readonly unfinished: UnfinishedHellos<number>;
  readonly end: Done;
  readonly fault: Fault;
}

/** The clients of one engine that have no upstream yet. */
export class Acceptor {
  readonly #options: AcceptorOptions;
  readonly #counters: Counters;
  readonly #sockets: SocketTable;
  readonly #decision = new Decision();
  readonly #peeked: Buffer;
  readonly #answers = new Arena(4096);
  /** Refused clients that have not closed yet. All have the same timeout, so the earliest deadline comes first. */
  readonly #lingering: WaitingList;
  /** The reason of each refused client. */
  readonly #reasons = new Map<number, number>();
  #tick = 0;

  constructor(options: AcceptorOptions) {
    this.#options = options;
    this.#counters = options.counters;
    this.#sockets = options.sockets;
    this.#lingering = new WaitingList(options.sockets, LIST.linger);
    this.#peeked = options.relay.io.bytes.subarray(HEAD_ROOM_BYTES);
  }

  /** Ends the connections that have timed out. */
  tick(tick: number): void {
    const { limits, clock, unfinished, dialer, fault } = this.#options;
    this.#tick = tick;
    const nowMs = clock.nowMs();
    for (const client of unfinished) {
      if ((this.#sockets.stageMs[client] ?? 0) + limits.helloTimeoutMs > nowMs) break;
      this.#hangUp(client, REASON.hello_timeout);
    }
    for (const client of this.#lingering) {
      if ((this.#sockets.stageMs[client] ?? 0) + limits.lingerMs > nowMs) break;
      this.#endRefused(client);
    }
    for (const client of dialer.failExpired()) {
      try {
        this.dialFailed(client);
      } catch (error) {
        fault(client, error);
      }
    }
  }

  /** Handles an event of a client that has no upstream. */
  changed(client: number, isReset: boolean): void {
    switch (this.#sockets.stageOf(client)) {
      case STAGE.hello:
        if (isReset) this.#options.end(client, REASON.client_reset, 'reset');
        else this.#readFirstBytes(client);
        return;
      case STAGE.dialing:
        if (isReset) this.#options.end(client, REASON.client_reset, 'reset');
        return;
      case STAGE.refused:
        this.#discard(client);
        return;
      default:
    }
  }

  /** Asks the router for a decision about the dial that has just failed. */
  dialFailed(client: number): void {
    const { router, dialer, connection } = this.#options;
    const decision = this.#decision;
    decision.reset(REASON.fault);
    router.failed(dialer.dial, connection.at(client), decision);
    if (decision.kind === 'more')
      throw new TypeError(`'more' is not a valid decision after a failed dial`);
    this.#apply(client);
  }

  /** Forgets a client whose connection has ended. Returns the reason under which it was already counted, if any. */
  forget(client: number): number | undefined {
    const { unfinished, dialer } = this.#options;
    unfinished.delete(client);
    dialer.forget(client);
    if (!this.#lingering.delete(client)) return undefined;
    const reason = this.#reasons.get(client);
    this.#reasons.delete(client);
    return reason;
  }

  #readFirstBytes(client: number): void {
    const { limits, relay, end, router } = this.#options;
    // An event means bytes, unless it reported a FIN.
    if (router.routesWithoutBytes === true && !this.#sockets.has(client, FLAG.finComing)) {
      this.#route(client, 0);
      return;
    }
    const at = relay.io.address + HEAD_ROOM_BYTES;
    const length = libc.recv(client, at, limits.maxFirstBytes, MSG.PEEK);
    if (length < 0) {
      if (errno() !== ERRNO.EAGAIN) end(client, REASON.client_reset, 'reset');
      return;
    }
    if (length === 0) {
      end(client, REASON.hello_incomplete, 'close');
      return;
    }
    this.#route(client, length);
  }

  #route(client: number, length: number): void {
    const { router, limits, connection } = this.#options;
    const decision = this.#decision;
    decision.more();
    router.route(this.#peeked, length, connection.at(client), decision);
    if (decision.kind !== 'more') {
      this.#apply(client);
    } else if (length === limits.maxFirstBytes) {
      decision.refuse(REASON.first_bytes_too_long);
      this.#apply(client);
    } else if (this.#sockets.has(client, FLAG.finComing)) {
      this.#hangUp(client, REASON.hello_incomplete);
    }
  }

  #apply(client: number): void {
    const { unfinished, dialer, end } = this.#options;
    const decision = this.#decision;
    unfinished.delete(client);
    switch (decision.kind) {
      case 'more':
        return;
      case 'dial':
        if (!dialer.start(client, decision, this.#tick)) this.dialFailed(client);
        return;
      case 'reset':
        end(client, decision.reason, 'reset');
        return;
      case 'refuse':
        this.#refuse(client, decision.reason, decision.answer);
        return;
    }
  }

  /** Ends a client without an answer. Discards its first bytes, because closing with unread bytes would be a reset. */
  #hangUp(client: number, reason: number): void {
    libc.recv(client, 0, DISCARD_BYTES, MSG.TRUNC);
    this.#options.end(client, reason, 'close');
  }

  /** Sends the answer and waits for the client to close, by rule 6 of engine.ts. */
  #refuse(client: number, reason: number, answer: Uint8Array): void {
    const sockets = this.#sockets;
    sockets.stage[client] = STAGE.refused;
    sockets.stageMs[client] = this.#options.clock.nowMs();
    this.#lingering.add(client);
    this.#reasons.set(client, reason);
    this.#counters.fail(reason, sockets.row[client] ?? -1);
    if (answer.length > this.#answers.bytes.length)
      throw new RangeError('the answer is longer than a page');
    this.#answers.bytes.set(answer);
    if (answer.length > 0) libc.send(client, this.#answers.address, answer.length, MSG.NOSIGNAL);
    libc.shutdown(client, SHUT_WR);
    this.#discard(client);
  }

  /** Discards what a refused client still sends, and ends it when it sends no more. */
  #discard(client: number): void {
    for (let round = 0; round < DISCARD_ROUNDS; round++) {
      // With MSG_TRUNC, TCP discards the bytes and copies none of them.
      const length = libc.recv(client, 0, DISCARD_BYTES, MSG.TRUNC);
      if (length > 0) continue;
      const isGone = length === 0 || errno() !== ERRNO.EAGAIN;
      if (isGone) this.#endRefused(client);
      return;
    }
    // The client sends faster than the engine discards, so it has received its answer long ago.
    this.#endRefused(client);
  }

  #endRefused(client: number): void {
    this.#options.end(client, this.#reasons.get(client) ?? REASON.fault, 'close');
  }
}
