/**
 * Bytes that were read, and that the other socket has not accepted yet. Only stalled readers have any.
 */
import { GLOBAL, type Counters } from '../../counters.ts';
import { Arena } from '../../../system/libc.ts';

/**
 * Buffers have 4 KiB times a power of two, so that none is larger than twice its content. Buffers of common sizes
 * are reused.
 */
const MIN_SIZE_BITS = 12;
const MAX_FREE_SIZE_BITS = 16;
const MAX_FREE_BUFFERS = 64;

/** Returns the power of two that fits this many bytes. */
function sizeBits(length: number): number {
  return Math.max(MIN_SIZE_BITS, 32 - Math.clz32(length - 1));
}

/** The bytes buffered for one socket. */
interface WriteBuffer {
  readonly memory: Arena;
  start: number;
  length: number;
  /** Number of leading bytes that belong to a preface and do not count. */
  uncounted: number;
}

/** All buffered bytes, by the descriptor of the receiving socket. */
export class WriteBuffers {
  readonly #counters: Counters;
  readonly #buffers = new Map<number, WriteBuffer>();
  /** Unused buffers, by their power of two. */
  readonly #freeMemory: Arena[][] = Array.from({ length: MAX_FREE_SIZE_BITS + 1 }, () => []);

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** Number of sockets with buffered bytes. */
  get size(): number {
    return this.#buffers.size;
  }

  get(fd: number): WriteBuffer | undefined {
    return this.#buffers.size === 0 ? undefined : this.#buffers.get(fd);
  }

  /** Buffers a copy of these bytes. */
  put(fd: number, from: Buffer, start: number, length: number, uncounted: number): void {
    const bits = sizeBits(length);
    const memory = this.#freeMemory[bits]?.pop() ?? new Arena(1 << bits);
    from.copy(memory.bytes, 0, start, start + length);
    this.#buffers.set(fd, { memory, start: 0, length, uncounted });
    this.#counters.add(GLOBAL.bufferedBytes, length);
  }

  /** Removes this many bytes from the front. Frees the buffer with the last one. */
  consume(fd: number, buffer: WriteBuffer, length: number): void {
    buffer.start += length;
    buffer.length -= length;
    this.#counters.add(GLOBAL.bufferedBytes, -length);
    if (buffer.length === 0) this.#forget(fd, buffer);
  }

  /** Drops the bytes buffered for this socket. */
  drop(fd: number): void {
    const buffer = this.get(fd);
    if (buffer === undefined) return;
    this.#counters.add(GLOBAL.bufferedBytes, -buffer.length);
    this.#forget(fd, buffer);
  }

  #forget(fd: number, { memory }: WriteBuffer): void {
    this.#buffers.delete(fd);
    const free = this.#freeMemory[sizeBits(memory.bytes.length)];
    if (free !== undefined && free.length < MAX_FREE_BUFFERS) free.push(memory);
  }
}
