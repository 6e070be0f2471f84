/**
 * Bytes and FINs from one end of a pair to the other.
 *
 * Edge-triggered epoll tells of a change once. Whoever does not read on must know that it has not: that is what
 * FLAG.readable is for. It is cleared only where the kernel has said that there is no more, and whatever lets an end be
 * read again (its peer took all bytes, its upstream answered) calls pump(). An edge that is lost all the same is found by
 * the sweep of the engine.
 *
 * A read that brings less than was asked for has brought all there is, and the next one can be spared; unless an end or
 * urgent bytes were announced, which stop a read short: then only the kernel's word counts.
 *
 * Small reads are copied through one buffer for all connections; an end that fills it twice in a row gets a pipe
 * (splice), or a larger share of the buffer if there is none. So does one whose bytes gather (gatherer.ts).
 *
 * What is read and not taken has to be kept. Once half of what may be kept is, nothing more is read before it is taken:
 * bytes are looked at, sent, and as many as were sent are thrown away. That costs a call more and keeps nothing, so that
 * stalled readers, however many, cost nobody the connection.
 */
import { GLOBAL, type Counters } from '../../counters.ts';
import type { KeptLimit } from '../../kept-limit.ts';
import { REASON } from '../../reasons.ts';
import { FLAG, type Ends } from '../ends.ts';
import { Gatherer, LOOK_MS, WAKE_BYTES } from './gatherer.ts';
import { KeptBytes } from './kept-bytes.ts';
import * as libc from '../../../system/libc.ts';
import { Arena, errno } from '../../../system/libc.ts';
import { ERRNO, MSG, SHUT_WR, SPLICE_FLAGS } from '../../../system/linux.ts';
import { PIPE_BYTES, type Pipe, type Pipes } from './pipes.ts';
import { TurnQueue } from './turn-queue.ts';

/** Ends a connection, given its client. */
export type Done = (client: number, reason: number, how: 'close' | 'reset') => void;

/** Ends the connection of an end because of a bug. */
export type Fault = (end: number, error: unknown) => void;

/** What a relay is made of. */
export interface RelayOptions {
  readonly ends: Ends;
  readonly counters: Counters;
  readonly limit: KeptLimit;
  readonly pipes: Pipes;
  /** The most that is kept for one reader, beside what one copy brings. */
  readonly maxPieceBytes: number;
  readonly done: Done;
  readonly fault: Fault;
}

/** Before the place where bytes are read to: for a preface, or for what is dropped. */
export const HEAD_ROOM_BYTES = 32 * 1024;
const READ_BYTES = 64 * 1024;
const HOT_READ_BYTES = 256 * 1024;
/** Full reads in a row that make an end hot. */
const HOT_READS = 2;
/** With more stalled readers than this, hot ends read no more than others: it bounds what is kept. */
const MAX_STALLED_FOR_HOT_READS = 64;
/** Reads or splices before the others have their turn. */
const COPY_ROUNDS = 8;
const SPLICE_ROUNDS = 4;

/** After these a short read says nothing. */
const ANNOUNCED = FLAG.finComing | FLAG.resetComing | FLAG.urgent;

/** The relay of one engine. */
export class Relay {
  /** What is read goes here, for all connections: nothing is kept in it from one event to the next. */
  readonly io = new Arena(HEAD_ROOM_BYTES + HOT_READ_BYTES);

  readonly #ends: Ends;
  readonly #counters: Counters;
  readonly #limit: KeptLimit;
  readonly #spliceBytes: number;
  readonly #done: Done;
  readonly #fault: Fault;
  readonly #kept: KeptBytes;
  readonly #pipes: Pipes;
  readonly #queue: TurnQueue;
  readonly #gatherer: Gatherer;
  /** So much is kept that nothing is read before it is taken. As of the last stall, or the last tick. */
  #isTight = false;

  constructor({ ends, counters, limit, pipes, maxPieceBytes, done, fault }: RelayOptions) {
    this.#ends = ends;
    this.#counters = counters;
    this.#limit = limit;
    this.#pipes = pipes;
    this.#spliceBytes = Math.min(PIPE_BYTES, maxPieceBytes);
    this.#done = done;
    this.#fault = fault;
    this.#kept = new KeptBytes(counters);
    this.#queue = new TurnQueue(ends);
    this.#gatherer = new Gatherer(ends);
  }

  /** See {@link Turn}. */
  get patienceMs(): number {
    if (!this.#queue.isEmpty) return 0;
    return this.#gatherer.isEmpty ? Infinity : LOOK_MS;
  }

  /** Goes on with those that wait for no event. */
  runQueues(): void {
    if (!this.#queue.isEmpty) this.#queue.run(this.#pumpAgain);
    if (!this.#gatherer.isEmpty) this.#gatherer.look(this.#takeGathered);
  }

  /**
   * The first bytes of a client: the upstream gets the preface in one segment with what the client has said behind the
   * bytes to drop. Those end up in the head room, where the preface then takes their place.
   */
  start(client: number, preface: Buffer | undefined): void {
    const ends = this.#ends;
    const dropBytes = ends.dropBytes[client] ?? 0;
    if (preface === undefined && dropBytes === 0) {
      this.pump(client);
      return;
    }
    const upstream = ends.peerOf(client);
    const want = dropBytes + READ_BYTES;
    const got = libc.recv(client, this.io.address + HEAD_ROOM_BYTES - dropBytes, want, 0);
    if (got <= 0) {
      const failure = errno();
      if (got < 0 && failure === ERRNO.EAGAIN)
        throw new Error('first bytes were told of, and not there');
      this.#nothingRead(client, upstream, got, failure);
      return;
    }
    if (got < dropBytes) throw new Error(`${dropBytes} bytes were seen, and ${got} were read`);
    const prefaceBytes = preface?.length ?? 0;
    const at = HEAD_ROOM_BYTES - prefaceBytes;
    preface?.copy(this.io.bytes, at);
    const length = prefaceBytes + got - dropBytes;
    if (length > 0 && !this.#deliver(upstream, at, length, prefaceBytes)) return;
    if (!this.#isDrained(client, got, want)) this.pump(client);
  }

  /** Brings what an end says to its peer, as far as both go along. */
  pump(from: number): void {
    const ends = this.#ends;
    const to = ends.peerOf(from);
    if (ends.has(to, FLAG.blocked) || ends.has(from, FLAG.finRead)) return;
    if (ends.has(from, FLAG.piped)) this.#pumpThroughPipe(from, to, this.#pipes.of(from));
    else if (ends.has(from, FLAG.readable)) this.#pumpByCopy(from, to);
  }

  /** A blocked end takes bytes again. */
  unblock(to: number): void {
    const kept = this.#kept.get(to);
    if (kept !== undefined) {
      const sent = libc.send(to, kept.room.address + kept.start, kept.length, MSG.NOSIGNAL);
      if (sent < 0) {
        if (errno() !== ERRNO.EAGAIN) this.lost(to);
        return;
      }
      const uncounted = Math.min(kept.uncounted, sent);
      kept.uncounted -= uncounted;
      this.#count(to, sent - uncounted);
      this.#kept.took(to, kept, sent);
      if (kept.length > 0) return;
    }
    this.#ends.clear(to, FLAG.blocked);
    this.pump(this.#ends.peerOf(to));
  }

  /** Whether bytes are held that this end has said or is to hear. */
  holds(end: number): boolean {
    // Perhaps only in the kernel, where closing would lose them too.
    if (this.#ends.has(end, FLAG.blocked)) return true;
    return this.#ends.has(end, FLAG.piped) && this.#pipes.of(end).bytes > 0;
  }

  /** Lets go of all that is held for an end. */
  forget(end: number): void {
    this.#kept.drop(end);
    this.#gatherer.forget(end);
    if (this.#ends.has(end, FLAG.piped)) this.#giveBackPipe(end);
  }

  /** Once a second: bulk that is over leaves no descriptors behind, and stalls that are over no traces. */
  tick(): void {
    this.#pipes.closeFree();
    if (this.#isTight) this.#isTight = this.#limit.isNear;
  }

  /** Closes what was kept for later use. */
  closeSpare(): void {
    this.#pipes.closeFree();
  }

  #pumpByCopy(from: number, to: number): void {
    const ends = this.#ends;
    for (let round = 0; round < COPY_ROUNDS; round++) {
      const isHot = (ends.heat[from] ?? 0) >= HOT_READS;
      const isTight = this.#isTight;
      const hasRoom = !isTight && this.#kept.size < MAX_STALLED_FOR_HOT_READS;
      const want = isHot && hasRoom ? HOT_READ_BYTES : READ_BYTES;
      const how = isTight ? MSG.PEEK : 0;
      const got = libc.recv(from, this.io.address + HEAD_ROOM_BYTES, want, how);
      if (got <= 0) {
        this.#nothingRead(from, to, got, errno());
        return;
      }
      const isThrough = isTight
        ? this.#deliverSeen(from, to, got)
        : this.#deliver(to, HEAD_ROOM_BYTES, got, 0);
      if (!isThrough) return;
      if (this.#isDrained(from, got, want)) return;
      if (got === want && !isHot && this.#becomesHot(from)) {
        this.#pumpThroughPipe(from, to, this.#pipes.of(from));
        return;
      }
    }
    this.#queue.add(from);
  }

  #pumpThroughPipe(from: number, to: number, pipe: Pipe): void {
    for (let round = 0; round < SPLICE_ROUNDS; round++) {
      if (pipe.bytes === 0) {
        if (this.#isTight) {
          this.#giveBackPipe(from);
          this.#ends.heat[from] = HOT_READS - 1;
          this.#pumpByCopy(from, to);
          return;
        }
        const got = libc.splice(from, 0, pipe.writeEnd, 0, this.#spliceBytes, SPLICE_FLAGS);
        if (got <= 0) {
          const failure = errno();
          if (got < 0 && failure === ERRNO.EINTR) continue; // a pipe is left for a signal
          this.#nothingSpliced(from, to, got, failure);
          return;
        }
        pipe.bytes = got;
        this.#counters.add(GLOBAL.keptBytes, got);
      }
      const sent = libc.splice(pipe.readEnd, 0, to, 0, pipe.bytes, SPLICE_FLAGS);
      if (sent < 0) {
        const failure = errno();
        if (failure === ERRNO.EINTR) continue;
        if (failure === ERRNO.EAGAIN) this.#stall(to);
        else this.lost(to);
        return;
      }
      // If bytes are left, a signal may have come between: only EAGAIN says that the socket is full.
      pipe.bytes -= sent;
      this.#counters.add(GLOBAL.keptBytes, -sent);
      this.#count(to, sent);
      // Where bytes gather no call is spent on asking for a rest: if there is one, it is taken at the next look.
      if (pipe.bytes === 0 && sent < WAKE_BYTES && this.#ends.has(from, FLAG.gathers)) {
        this.#ends.clear(from, FLAG.readable);
        return;
      }
    }
    this.#queue.add(from);
  }

  #nothingSpliced(from: number, to: number, got: number, failure: number): void {
    const ends = this.#ends;
    const isUrgent = ends.has(from, FLAG.urgent);
    if (got < 0 && failure === ERRNO.EAGAIN && ends.has(from, FLAG.gathers) && !isUrgent) {
      ends.clear(from, FLAG.readable); // and it keeps its pipe
      return;
    }
    this.#giveBackPipe(from);
    ends.heat[from] = HOT_READS - 1;
    // At urgent bytes splice() sees an end where there is none, so the last word is recv()'s.
    if (got === 0 || isUrgent) this.#queue.add(from);
    else this.#nothingRead(from, to, got, failure);
  }

  /** Sends what is in the buffer, and keeps what the socket does not take. Whether it took all. */
  #deliver(to: number, at: number, length: number, uncounted: number): boolean {
    const sent = libc.send(to, this.io.address + at, length, MSG.NOSIGNAL);
    if (sent === length) {
      this.#count(to, length - uncounted);
      return true;
    }
    const failure = errno();
    const taken = Math.max(0, sent);
    const ours = Math.min(uncounted, taken);
    this.#count(to, taken - ours);
    this.#kept.put(to, this.io.bytes, at + taken, length - taken, uncounted - ours);
    if (sent < 0 && failure !== ERRNO.EAGAIN) this.lost(to);
    else this.#stall(to);
    return false;
  }

  /** Sends what is in the buffer and still in the kernel, and takes from there what the socket took. Whether it took all. */
  #deliverSeen(from: number, to: number, length: number): boolean {
    const sent = libc.send(to, this.io.address + HEAD_ROOM_BYTES, length, MSG.NOSIGNAL);
    if (sent < 0) {
      if (errno() === ERRNO.EAGAIN) this.#ends.set(to, FLAG.blocked);
      else this.lost(to);
      return false;
    }
    this.#count(to, sent);
    // With MSG_TRUNC TCP throws the bytes away and copies none of them.
    if (libc.recv(from, 0, sent, MSG.TRUNC) !== sent) {
      this.lost(from);
      return false;
    }
    if (sent === length) return true;
    this.#ends.set(to, FLAG.blocked);
    return false;
  }

  /** An end took less than there was, and the rest is kept. Its connection goes if that was too much. */
  #stall(to: number): void {
    this.#ends.set(to, FLAG.blocked);
    this.#isTight = this.#limit.isNear;
    if (this.#isTight && this.#limit.isExceeded) {
      this.#done(this.#ends.clientOf(to), REASON.kept_bytes_limit, 'reset');
    }
  }

  /** Whether this read has brought all that the kernel had. */
  #isDrained(from: number, got: number, want: number): boolean {
    if (got < READ_BYTES / 2) this.#ends.heat[from] = 0;
    if (got === want || this.#ends.has(from, ANNOUNCED)) return false;
    this.#ends.clear(from, FLAG.readable);
    if (this.#gatherer.brought(from, got)) this.#takePipe(from);
    return true;
  }

  #nothingRead(from: number, to: number, got: number, failure: number): void {
    if (got === 0) this.#fin(from, to);
    else if (got < 0 && failure === ERRNO.EAGAIN) this.#ends.clear(from, FLAG.readable);
    else this.lost(from);
  }

  /** An end was reset, or its network gave up: the other one is to know. */
  lost(end: number): void {
    const ends = this.#ends;
    const lost = ends.has(end, FLAG.client) ? REASON.client_reset : REASON.upstream_reset;
    // Whoever resets after its FIN has said all, and wants to hear no more.
    const reason = ends.has(end, FLAG.finRead) ? REASON.completed : lost;
    this.#done(ends.clientOf(end), reason, 'reset');
  }

  /** The last byte of an end is through. If that was the last direction, closing does as well as a FIN, in one call. */
  #fin(from: number, to: number): void {
    const ends = this.#ends;
    ends.set(from, FLAG.finRead);
    ends.clear(from, FLAG.readable);
    if (ends.has(from, FLAG.resetComing)) {
      this.lost(from);
      return;
    }
    if (ends.has(to, FLAG.finRead)) {
      this.#done(ends.clientOf(from), REASON.completed, 'close');
      return;
    }
    libc.shutdown(to, SHUT_WR);
  }

  /** Whether this full read is the one that earns the end a pipe, and there is one. */
  #becomesHot(from: number): boolean {
    const heat = (this.#ends.heat[from] ?? 0) + 1;
    this.#ends.heat[from] = heat;
    if (heat < HOT_READS || this.#ends.has(from, FLAG.urgent)) return false;
    return this.#takePipe(from);
  }

  #takePipe(from: number): boolean {
    if (this.#isTight || this.#pipes.take(from) === undefined) return false;
    this.#ends.set(from, FLAG.piped);
    return true;
  }

  /** What is still in it is lost: its end is over. */
  #giveBackPipe(from: number): void {
    this.#ends.clear(from, FLAG.piped);
    this.#counters.add(GLOBAL.keptBytes, -this.#pipes.giveBack(from));
  }

  readonly #pumpAgain = (end: number): void => {
    try {
      this.pump(end);
    } catch (error) {
      this.#fault(end, error);
    }
  };

  readonly #takeGathered = (end: number): void => {
    this.#ends.set(end, FLAG.readable);
    this.#pumpAgain(end);
  };

  #count(to: number, bytes: number): void {
    const ends = this.#ends;
    ends.bytes[to] = (ends.bytes[to] ?? 0) + bytes;
    this.#counters.add(ends.bytesAt[to] ?? -1, bytes);
  }
}
