/**
 * Forwards bytes and FINs from one socket of a pair to the other.
 *
 * Edge-triggered epoll reports a change once. If code stops reading early, FLAG.readable stays set; it is cleared only
 * when the kernel has reported that there are no more bytes. Every event that allows a socket to be read again (its
 * peer accepted all bytes, its upstream answered) calls pump(). The sweep of the engine recovers edges that are lost
 * nevertheless.
 *
 * A read that returns less than requested has returned all available bytes, so the next read can be skipped. This does
 * not hold once epoll has reported a FIN, a reset or urgent bytes, because they cut a read short. The relay then reads
 * until the kernel reports EAGAIN or the end.
 *
 * Small reads are copied through one buffer for all connections. A socket that fills it twice in a row gets a pipe
 * (splice), or a larger part of the buffer if there is no pipe. So does a socket whose bytes gather
 * (read-coalescer.ts).
 *
 * Bytes that were read but not accepted must be buffered. Once half of the buffer limit is used, nothing more is read
 * before the peer accepts it: the relay peeks at bytes, sends them, and discards as many as were sent. That costs one
 * more call and buffers nothing. So no number of stalled readers costs another client its connection.
 */
import { GLOBAL, type Counters } from '../../counters.ts';
import type { BufferLimit } from '../../buffer-limit.ts';
import { REASON } from '../../reasons.ts';
import { FLAG, type SocketTable } from '../socket-table.ts';
import { ReadCoalescer, CHECK_MS, WAKE_BYTES } from './read-coalescer.ts';
import { WriteBuffers } from './write-buffers.ts';
import * as libc from '../../../system/libc.ts';
import { Arena, errno } from '../../../system/libc.ts';
import { ERRNO, MSG, SHUT_WR, SPLICE_FLAGS } from '../../../system/linux.ts';
import { PIPE_BYTES, type Pipe, type Pipes } from './pipes.ts';
import { ReadyQueue } from './ready-queue.ts';

/** Ends a connection, given its client. */
export type Done = (client: number, reason: number, closeMode: 'close' | 'reset') => void;

/** Ends the connection of a socket because of a bug. */
export type Fault = (fd: number, error: unknown) => void;

interface RelayOptions {
  readonly sockets: SocketTable;
  readonly counters: Counters;
  readonly limit: BufferLimit;
  readonly pipes: Pipes;
  /** Maximum number of bytes buffered for one reader, besides those of one copy. */
  readonly maxPieceBytes: number;
  readonly done: Done;
  readonly fault: Fault;
}

/** Space in front of the bytes that are read, for a preface or for dropped bytes. */
export const HEAD_ROOM_BYTES = 32 * 1024;
const READ_BYTES = 64 * 1024;
const HOT_READ_BYTES = 256 * 1024;
/** Number of full reads in a row that make a socket hot. */
const HOT_READS = 2;
/** With more stalled readers than this, hot sockets read no more than others. This bounds the buffered bytes. */
const MAX_STALLED_FOR_HOT_READS = 64;
/** Number of reads or splices before other sockets get their turn. */
const COPY_ROUNDS = 8;
const SPLICE_ROUNDS = 4;

/** With one of these flags, a short read does not mean that all bytes were read. */
const ANNOUNCED = FLAG.finComing | FLAG.resetComing | FLAG.urgent;

/** The relay of one engine. */
export class Relay {
  /** The read buffer of all connections. It is empty between events. */
  readonly io = new Arena(HEAD_ROOM_BYTES + HOT_READ_BYTES);

  readonly #sockets: SocketTable;
  readonly #counters: Counters;
  readonly #limit: BufferLimit;
  readonly #spliceBytes: number;
  readonly #done: Done;
  readonly #fault: Fault;
  readonly #buffers: WriteBuffers;
  readonly #pipes: Pipes;
  readonly #queue: ReadyQueue;
  readonly #coalescer: ReadCoalescer;
  /**
   * Whether the buffers are so full that bytes stay in the kernel until the peer accepts them. Updated at each stall
   * and each tick.
   */
  #isTight = false;

  constructor({ sockets, counters, limit, pipes, maxPieceBytes, done, fault }: RelayOptions) {
    this.#sockets = sockets;
    this.#counters = counters;
    this.#limit = limit;
    this.#pipes = pipes;
    this.#spliceBytes = Math.min(PIPE_BYTES, maxPieceBytes);
    this.#done = done;
    this.#fault = fault;
    this.#buffers = new WriteBuffers(counters);
    this.#queue = new ReadyQueue(sockets);
    this.#coalescer = new ReadCoalescer(sockets);
  }

  /** See {@link LoopHandler}. */
  get maxSleepMs(): number {
    if (!this.#queue.isEmpty) return 0;
    return this.#coalescer.isEmpty ? Infinity : CHECK_MS;
  }

  /** Continues with sockets that wait for no event. */
  runQueues(): void {
    if (!this.#queue.isEmpty) this.#queue.run(this.#pumpAgain);
    if (!this.#coalescer.isEmpty) this.#coalescer.check(this.#takeCoalesced);
  }

  /**
   * Forwards the first bytes of a client. The upstream receives the preface in one segment with the client's bytes
   * after the dropped ones. The dropped bytes go to the head room, where the preface then replaces them.
   */
  start(client: number, preface: Buffer | undefined): void {
    const sockets = this.#sockets;
    const dropBytes = sockets.dropBytes[client] ?? 0;
    if (preface === undefined && dropBytes === 0) {
      this.pump(client);
      return;
    }
    const upstream = sockets.peerOf(client);
    const want = dropBytes + READ_BYTES;
    const got = libc.recv(client, this.io.address + HEAD_ROOM_BYTES - dropBytes, want, 0);
    if (got <= 0) {
      const failure = errno();
      if (got < 0 && failure === ERRNO.EAGAIN)
        throw new Error('the first bytes were peeked at, but cannot be read');
      this.#nothingRead(client, upstream, got, failure);
      return;
    }
    if (got < dropBytes)
      throw new Error(`${dropBytes} bytes were peeked at, but only ${got} were read`);
    const prefaceBytes = preface?.length ?? 0;
    const at = HEAD_ROOM_BYTES - prefaceBytes;
    preface?.copy(this.io.bytes, at);
    const length = prefaceBytes + got - dropBytes;
    if (length > 0 && !this.#deliver(upstream, at, length, prefaceBytes)) return;
    if (!this.#isDrained(client, got, want)) this.pump(client);
  }

  /** Forwards bytes of a socket to its peer, until there are no more or the peer accepts no more. */
  pump(from: number): void {
    const sockets = this.#sockets;
    const to = sockets.peerOf(from);
    if (sockets.has(to, FLAG.blocked) || sockets.has(from, FLAG.finRead)) return;
    if (sockets.has(from, FLAG.piped)) this.#pumpThroughPipe(from, to, this.#pipes.get(from));
    else if (sockets.has(from, FLAG.readable)) this.#pumpByCopy(from, to);
  }

  /** Continues with a blocked socket that accepts bytes again. */
  unblock(to: number): void {
    const buffer = this.#buffers.get(to);
    if (buffer !== undefined) {
      const sent = libc.send(to, buffer.memory.address + buffer.start, buffer.length, MSG.NOSIGNAL);
      if (sent < 0) {
        if (errno() !== ERRNO.EAGAIN) this.lost(to);
        return;
      }
      const uncounted = Math.min(buffer.uncounted, sent);
      buffer.uncounted -= uncounted;
      this.#count(to, sent - uncounted);
      this.#buffers.consume(to, buffer, sent);
      if (buffer.length > 0) return;
    }
    this.#sockets.clear(to, FLAG.blocked);
    this.pump(this.#sockets.peerOf(to));
  }

  /** Reports whether bytes from this socket or for it are undelivered. */
  holds(fd: number): boolean {
    // The bytes may be only in the kernel, where closing would lose them too.
    if (this.#sockets.has(fd, FLAG.blocked)) return true;
    return this.#sockets.has(fd, FLAG.piped) && this.#pipes.get(fd).bytes > 0;
  }

  /** Drops everything that is held for a socket. */
  forget(fd: number): void {
    this.#buffers.drop(fd);
    this.#coalescer.forget(fd);
    if (this.#sockets.has(fd, FLAG.piped)) this.#giveBackPipe(fd);
  }

  /** Runs once per second: closes unused pipes, and leaves tight mode when buffers are free again. */
  tick(): void {
    this.#pipes.closeFree();
    if (this.#isTight) this.#isTight = this.#limit.isNear;
  }

  /** Closes the unused pipes. */
  closeSpare(): void {
    this.#pipes.closeFree();
  }

  #pumpByCopy(from: number, to: number): void {
    const sockets = this.#sockets;
    for (let round = 0; round < COPY_ROUNDS; round++) {
      const isHot = (sockets.heat[from] ?? 0) >= HOT_READS;
      const isTight = this.#isTight;
      const hasRoom = !isTight && this.#buffers.size < MAX_STALLED_FOR_HOT_READS;
      const want = isHot && hasRoom ? HOT_READ_BYTES : READ_BYTES;
      const flags = isTight ? MSG.PEEK : 0;
      const got = libc.recv(from, this.io.address + HEAD_ROOM_BYTES, want, flags);
      if (got <= 0) {
        this.#nothingRead(from, to, got, errno());
        return;
      }
      const isDelivered = isTight
        ? this.#deliverPeeked(from, to, got)
        : this.#deliver(to, HEAD_ROOM_BYTES, got, 0);
      if (!isDelivered) return;
      if (this.#isDrained(from, got, want)) return;
      if (got === want && !isHot && this.#becomesHot(from)) {
        this.#pumpThroughPipe(from, to, this.#pipes.get(from));
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
          this.#sockets.heat[from] = HOT_READS - 1;
          this.#pumpByCopy(from, to);
          return;
        }
        const got = libc.splice(from, 0, pipe.writeEnd, 0, this.#spliceBytes, SPLICE_FLAGS);
        if (got <= 0) {
          const failure = errno();
          if (got < 0 && failure === ERRNO.EINTR) continue; // a signal interrupted splice()
          this.#nothingSpliced(from, to, got, failure);
          return;
        }
        pipe.bytes = got;
        this.#counters.add(GLOBAL.bufferedBytes, got);
      }
      const sent = libc.splice(pipe.readEnd, 0, to, 0, pipe.bytes, SPLICE_FLAGS);
      if (sent < 0) {
        const failure = errno();
        if (failure === ERRNO.EINTR) continue;
        if (failure === ERRNO.EAGAIN) this.#stall(to);
        else this.lost(to);
        return;
      }
      // If bytes are left, a signal may have interrupted the call. Only EAGAIN means that the socket is full.
      pipe.bytes -= sent;
      this.#counters.add(GLOBAL.bufferedBytes, -sent);
      this.#count(to, sent);
      // Saves a call that checks for more bytes: the next check of the coalescer reads them.
      if (pipe.bytes === 0 && sent < WAKE_BYTES && this.#sockets.has(from, FLAG.coalesces)) {
        this.#sockets.clear(from, FLAG.readable);
        return;
      }
    }
    this.#queue.add(from);
  }

  #nothingSpliced(from: number, to: number, got: number, failure: number): void {
    const sockets = this.#sockets;
    const isUrgent = sockets.has(from, FLAG.urgent);
    if (got < 0 && failure === ERRNO.EAGAIN && sockets.has(from, FLAG.coalesces) && !isUrgent) {
      sockets.clear(from, FLAG.readable); // it keeps its pipe
      return;
    }
    this.#giveBackPipe(from);
    sockets.heat[from] = HOT_READS - 1;
    // At urgent bytes, splice() wrongly reports an end, so recv() has to confirm it.
    if (got === 0 || isUrgent) this.#queue.add(from);
    else this.#nothingRead(from, to, got, failure);
  }

  /** Sends bytes from the read buffer, and buffers what the socket does not accept. Reports whether it accepted all. */
  #deliver(to: number, at: number, length: number, uncounted: number): boolean {
    const sent = libc.send(to, this.io.address + at, length, MSG.NOSIGNAL);
    if (sent === length) {
      this.#count(to, length - uncounted);
      return true;
    }
    const failure = errno();
    const sentBytes = Math.max(0, sent);
    const prefaceBytes = Math.min(uncounted, sentBytes);
    this.#count(to, sentBytes - prefaceBytes);
    this.#buffers.put(
      to,
      this.io.bytes,
      at + sentBytes,
      length - sentBytes,
      uncounted - prefaceBytes,
    );
    if (sent < 0 && failure !== ERRNO.EAGAIN) this.lost(to);
    else this.#stall(to);
    return false;
  }

  /**
   * Sends bytes that are in the read buffer and still in the kernel, and discards in the kernel what the socket
   * accepted. Reports whether it accepted all.
   */
  #deliverPeeked(from: number, to: number, length: number): boolean {
    const sent = libc.send(to, this.io.address + HEAD_ROOM_BYTES, length, MSG.NOSIGNAL);
    if (sent < 0) {
      if (errno() === ERRNO.EAGAIN) this.#sockets.set(to, FLAG.blocked);
      else this.lost(to);
      return false;
    }
    this.#count(to, sent);
    // With MSG_TRUNC, TCP discards the bytes and copies none of them.
    if (libc.recv(from, 0, sent, MSG.TRUNC) !== sent) {
      this.lost(from);
      return false;
    }
    if (sent === length) return true;
    this.#sockets.set(to, FLAG.blocked);
    return false;
  }

  /** Marks a socket that did not accept all bytes. Resets its connection if the buffer limit is exceeded. */
  #stall(to: number): void {
    this.#sockets.set(to, FLAG.blocked);
    this.#isTight = this.#limit.isNear;
    if (this.#isTight && this.#limit.isExceeded) {
      this.#done(this.#sockets.clientOf(to), REASON.buffered_bytes_limit, 'reset');
    }
  }

  /** Reports whether this read has returned all bytes that the kernel had. */
  #isDrained(from: number, got: number, want: number): boolean {
    if (got < READ_BYTES / 2) this.#sockets.heat[from] = 0;
    if (got === want || this.#sockets.has(from, ANNOUNCED)) return false;
    this.#sockets.clear(from, FLAG.readable);
    if (this.#coalescer.recordRead(from, got)) this.#takePipe(from);
    return true;
  }

  #nothingRead(from: number, to: number, got: number, failure: number): void {
    if (got === 0) this.#fin(from, to);
    else if (got < 0 && failure === ERRNO.EAGAIN) this.#sockets.clear(from, FLAG.readable);
    else this.lost(from);
  }

  /** Ends the connection of a socket that was reset or has failed. The peer is reset too. */
  lost(fd: number): void {
    const sockets = this.#sockets;
    const lost = sockets.has(fd, FLAG.client) ? REASON.client_reset : REASON.upstream_reset;
    // A side that resets after its FIN has sent everything and reads no more.
    const reason = sockets.has(fd, FLAG.finRead) ? REASON.completed : lost;
    this.#done(sockets.clientOf(fd), reason, 'reset');
  }

  /**
   * Forwards the FIN of a socket. If this was the last open direction, closes the connection instead, which saves a
   * call.
   */
  #fin(from: number, to: number): void {
    const sockets = this.#sockets;
    sockets.set(from, FLAG.finRead);
    sockets.clear(from, FLAG.readable);
    if (sockets.has(from, FLAG.resetComing)) {
      this.lost(from);
      return;
    }
    if (sockets.has(to, FLAG.finRead)) {
      this.#done(sockets.clientOf(from), REASON.completed, 'close');
      return;
    }
    libc.shutdown(to, SHUT_WR);
  }

  /** Counts a full read. Reports whether the socket has a pipe for that from now on. */
  #becomesHot(from: number): boolean {
    const heat = (this.#sockets.heat[from] ?? 0) + 1;
    this.#sockets.heat[from] = heat;
    if (heat < HOT_READS || this.#sockets.has(from, FLAG.urgent)) return false;
    return this.#takePipe(from);
  }

  #takePipe(from: number): boolean {
    if (this.#isTight || this.#pipes.take(from) === undefined) return false;
    this.#sockets.set(from, FLAG.piped);
    return true;
  }

  /** Gives the pipe of a socket back. Bytes in it are lost, which only happens when the connection has ended. */
  #giveBackPipe(from: number): void {
    this.#sockets.clear(from, FLAG.piped);
    this.#counters.add(GLOBAL.bufferedBytes, -this.#pipes.giveBack(from));
  }

  readonly #pumpAgain = (fd: number): void => {
    try {
      this.pump(fd);
    } catch (error) {
      this.#fault(fd, error);
    }
  };

  readonly #takeCoalesced = (fd: number): void => {
    this.#sockets.set(fd, FLAG.readable);
    this.#pumpAgain(fd);
  };

  #count(to: number, bytes: number): void {
    const sockets = this.#sockets;
    sockets.bytes[to] = (sockets.bytes[to] ?? 0) + bytes;
    this.#counters.add(sockets.bytesAt[to] ?? -1, bytes);
  }
}
