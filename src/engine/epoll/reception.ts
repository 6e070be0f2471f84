/**
 * A connection from its first byte until it has an upstream: asks the switchboard, and carries out what it says.
 *
 * The first bytes are only looked at (MSG_PEEK) and stay in the kernel until the upstream has answered: nothing is kept
 * and nothing put together here, and a slow dial costs no memory. More bytes are a new edge, and a new look at them all.
 */
import type { Counters } from '../counters.ts';
import { REASON } from '../reasons.ts';
import type { UnfinishedHellos } from '../unfinished-hellos.ts';
import { Verdict } from '../verdict.ts';
import type { Dialler, DiallerOptions } from './dialler.ts';
import { FLAG, LIST, STAGE, type Ends } from './ends.ts';
import * as libc from '../../system/libc.ts';
import { Arena, errno } from '../../system/libc.ts';
import { ERRNO, MSG, SHUT_WR } from '../../system/linux.ts';
import { HEAD_ROOM_BYTES, type Done, type Fault } from './relay/relay.ts';
import { WaitingList } from './waiting-list.ts';

/** How much of what a refused client still sends is thrown away by one call, and by how many calls in a row. */
const DISCARD_BYTES = 1 << 20;
const DISCARD_ROUNDS = 8;

/** The parts of an engine that have to do with a connection without an upstream. */
export interface ReceptionOptions extends DiallerOptions {
  readonly dialler: Dialler;
  readonly unfinished: UnfinishedHellos<number>;
  readonly end: Done;
  readonly fault: Fault;
}

/** Where clients wait. */
export class Reception {
  readonly #options: ReceptionOptions;
  readonly #counters: Counters;
  readonly #ends: Ends;
  readonly #verdict = new Verdict();
  readonly #peeked: Buffer;
  readonly #answers = new Arena(4096);
  /** Refused ones that have not left. All wait equally long, so the nearest deadline comes first. */
  readonly #lingering: WaitingList;
  /** Why each of them was refused. */
  readonly #reasons = new Map<number, number>();
  #tick = 0;

  constructor(options: ReceptionOptions) {
    this.#options = options;
    this.#counters = options.counters;
    this.#ends = options.ends;
    this.#lingering = new WaitingList(options.ends, LIST.leave);
    this.#peeked = options.relay.io.bytes.subarray(HEAD_ROOM_BYTES);
  }

  /** Sends away whoever has waited too long. */
  tick(tick: number): void {
    const { limits, clock, unfinished, dialler, fault } = this.#options;
    this.#tick = tick;
    const nowMs = clock.nowMs();
    for (const client of unfinished) {
      if ((this.#ends.stageMs[client] ?? 0) + limits.helloTimeoutMs > nowMs) break;
      this.#hangUp(client, REASON.hello_timeout);
    }
    for (const client of this.#lingering) {
      if ((this.#ends.stageMs[client] ?? 0) + limits.lingerMs > nowMs) break;
      this.#leaves(client);
    }
    for (const client of dialler.expired()) {
      try {
        this.dialFailed(client);
      } catch (error) {
        fault(client, error);
      }
    }
  }

  /** Something has changed at a client that has no upstream. */
  changed(client: number, isReset: boolean): void {
    switch (this.#ends.stageOf(client)) {
      case STAGE.hello:
        if (isReset) this.#options.end(client, REASON.client_reset, 'reset');
        else this.#look(client);
        return;
      case STAGE.dialling:
        if (isReset) this.#options.end(client, REASON.client_reset, 'reset');
        return;
      case STAGE.refused:
        this.#discard(client);
        return;
      default:
    }
  }

  /** The dial that the dialler has just decided has failed. */
  dialFailed(client: number): void {
    const { switchboard, dialler, caller } = this.#options;
    const verdict = this.#verdict;
    verdict.reset(REASON.fault);
    switchboard.failed(dialler.dial, caller.at(client), verdict);
    if (verdict.kind === 'more') throw new TypeError(`'more' is no answer to a failed dial`);
    this.#carryOut(client);
  }

  /** The client is over; returns the reason under which it was counted already, if it was. */
  leave(client: number): number | undefined {
    const { unfinished, dialler } = this.#options;
    unfinished.delete(client);
    dialler.leave(client);
    if (!this.#lingering.delete(client)) return undefined;
    const reason = this.#reasons.get(client);
    this.#reasons.delete(client);
    return reason;
  }

  #look(client: number): void {
    const { limits, relay, end, switchboard } = this.#options;
    // There are bytes, unless what was told of is an end.
    if (switchboard.isBlind === true && !this.#ends.has(client, FLAG.finComing)) {
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
      end(client, REASON.hello_cut, 'close');
      return;
    }
    this.#route(client, length);
  }

  #route(client: number, length: number): void {
    const { switchboard, limits, caller } = this.#options;
    const verdict = this.#verdict;
    verdict.more();
    switchboard.route(this.#peeked, length, caller.at(client), verdict);
    if (verdict.kind !== 'more') {
      this.#carryOut(client);
    } else if (length === limits.maxFirstBytes) {
      verdict.refuse(REASON.first_bytes_too_long);
      this.#carryOut(client);
    } else if (this.#ends.has(client, FLAG.finComing)) {
      this.#hangUp(client, REASON.hello_cut);
    }
  }

  #carryOut(client: number): void {
    const { unfinished, dialler, end } = this.#options;
    const verdict = this.#verdict;
    unfinished.delete(client);
    switch (verdict.kind) {
      case 'more':
        return;
      case 'dial':
        if (!dialler.start(client, verdict, this.#tick)) this.dialFailed(client);
        return;
      case 'reset':
        end(client, verdict.reason, 'reset');
        return;
      case 'refuse':
        this.#refuse(client, verdict.reason, verdict.answer);
        return;
    }
  }

  /** Ends a client that is owed no answer. With its first bytes unread, closing would be a reset. */
  #hangUp(client: number, reason: number): void {
    libc.recv(client, 0, DISCARD_BYTES, MSG.TRUNC);
    this.#options.end(client, reason, 'close');
  }

  /** Answers, and waits for the client to leave; see the contract for why. */
  #refuse(client: number, reason: number, answer: Uint8Array): void {
    const ends = this.#ends;
    ends.stage[client] = STAGE.refused;
    ends.stageMs[client] = this.#options.clock.nowMs();
    this.#lingering.add(client);
    this.#reasons.set(client, reason);
    this.#counters.fail(reason, ends.row[client] ?? -1);
    if (answer.length > this.#answers.bytes.length)
      throw new RangeError('an answer of over a page');
    this.#answers.bytes.set(answer);
    if (answer.length > 0) libc.send(client, this.#answers.address, answer.length, MSG.NOSIGNAL);
    libc.shutdown(client, SHUT_WR);
    this.#discard(client);
  }

  /** Throws away what a refused client still sends, and lets it go when it says no more. */
  #discard(client: number): void {
    for (let round = 0; round < DISCARD_ROUNDS; round++) {
      // With MSG_TRUNC TCP throws the bytes away and copies none of them.
      const length = libc.recv(client, 0, DISCARD_BYTES, MSG.TRUNC);
      if (length > 0) continue;
      const isGone = length === 0 || errno() !== ERRNO.EAGAIN;
      if (isGone) this.#leaves(client);
      return;
    }
    // One that sends faster than it is read has had its answer long ago.
    this.#leaves(client);
  }

  #leaves(client: number): void {
    this.#options.end(client, this.#reasons.get(client) ?? REASON.fault, 'close');
  }
}
