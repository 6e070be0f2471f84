/**
 * Bytes that were read, and that the other socket has not accepted yet. Only stalled readers have any.
 */
import { GLOBAL, type Counters } from '../../counters.ts';
import { Arena } from '../../../system/libc.ts';

/**
 * Buffers have 4 KiB times a power of two, so that none is larger than twice its content. Buffers of common sizes
 * are reused.
 */
const SMALLEST_ROOM_BITS = 12;
const LARGEST_FREE_ROOM_BITS = 16;
const MAX_FREE_ROOMS = 64;

/** Returns the power of two that fits this many bytes. */
function roomBits(length: number): number {
  return Math.max(SMALLEST_ROOM_BITS, 32 - Math.clz32(length - 1));
}

/** The bytes buffered for one socket. */
export interface Kept {
  readonly room: Arena;
  start: number;
  length: number;
  /** Number of leading bytes that belong to a preface and do not count. */
  uncounted: number;
}

/** All buffered bytes, by the descriptor of the receiving socket. */
export class KeptBytes {
  readonly #counters: Counters;
  readonly #kept = new Map<number, Kept>();
  /** Unused buffers, by their power of two. */
  readonly #freeRooms: Arena[][] = Array.from({ length: LARGEST_FREE_ROOM_BITS + 1 }, () => []);

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** Number of sockets with buffered bytes. */
  get size(): number {
    return this.#kept.size;
  }

  get(fd: number): Kept | undefined {
    return this.#kept.size === 0 ? undefined : this.#kept.get(fd);
  }

  /** Buffers a copy of these bytes. */
  put(fd: number, from: Buffer, start: number, length: number, uncounted: number): void {
    const bits = roomBits(length);
    const room = this.#freeRooms[bits]?.pop() ?? new Arena(1 << bits);
    from.copy(room.bytes, 0, start, start + length);
    this.#kept.set(fd, { room, start: 0, length, uncounted });
    this.#counters.add(GLOBAL.bufferedBytes, length);
  }

  /** Removes this many bytes from the front. Frees the buffer with the last one. */
  took(fd: number, kept: Kept, length: number): void {
    kept.start += length;
    kept.length -= length;
    this.#counters.add(GLOBAL.bufferedBytes, -length);
    if (kept.length === 0) this.#forget(fd, kept);
  }

  /** Drops the bytes buffered for this socket. */
  drop(fd: number): void {
    const kept = this.get(fd);
    if (kept === undefined) return;
    this.#counters.add(GLOBAL.bufferedBytes, -kept.length);
    this.#forget(fd, kept);
  }

  #forget(fd: number, { room }: Kept): void {
    this.#kept.delete(fd);
    const free = this.#freeRooms[roomBits(room.bytes.length)];
    if (free !== undefined && free.length < MAX_FREE_ROOMS) free.push(room);
  }
}
