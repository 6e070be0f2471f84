/**
 * Bytes that a socket did not take: read, and not yet sent. Only stalled readers have any.
 */
import { GLOBAL, type Counters } from '../../counters.ts';
import { Arena } from '../../../system/libc.ts';

/** Rooms have 4 KiB times a power of two, so that none is larger than twice what is in it; the usual ones are used again. */
const SMALLEST_ROOM_BITS = 12;
const LARGEST_FREE_ROOM_BITS = 16;
const MAX_FREE_ROOMS = 64;

/** The power of two that so many bytes fit in. */
function roomBits(length: number): number {
  return Math.max(SMALLEST_ROOM_BITS, 32 - Math.clz32(length - 1));
}

/** What waits for one socket. */
export interface Kept {
  readonly room: Arena;
  start: number;
  length: number;
  /** How many of the first of them are not the peer's, and not to be counted. */
  uncounted: number;
}

/** All that waits, by the descriptor it waits for. */
export class KeptBytes {
  readonly #counters: Counters;
  readonly #kept = new Map<number, Kept>();
  /** By their power of two. */
  readonly #freeRooms: Arena[][] = Array.from({ length: LARGEST_FREE_ROOM_BITS + 1 }, () => []);

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** For how many sockets something waits. */
  get size(): number {
    return this.#kept.size;
  }

  get(fd: number): Kept | undefined {
    return this.#kept.size === 0 ? undefined : this.#kept.get(fd);
  }

  /** Keeps a copy of these bytes. */
  put(fd: number, from: Buffer, start: number, length: number, uncounted: number): void {
    const bits = roomBits(length);
    const room = this.#freeRooms[bits]?.pop() ?? new Arena(1 << bits);
    from.copy(room.bytes, 0, start, start + length);
    this.#kept.set(fd, { room, start: 0, length, uncounted });
    this.#counters.add(GLOBAL.keptBytes, length);
  }

  /** So many of the first bytes are gone; lets go of the rest of the room with the last one. */
  took(fd: number, kept: Kept, length: number): void {
    kept.start += length;
    kept.length -= length;
    this.#counters.add(GLOBAL.keptBytes, -length);
    if (kept.length === 0) this.#forget(fd, kept);
  }

  /** Throws away what waits for this socket. */
  drop(fd: number): void {
    const kept = this.get(fd);
    if (kept === undefined) return;
    this.#counters.add(GLOBAL.keptBytes, -kept.length);
    this.#forget(fd, kept);
  }

  #forget(fd: number, { room }: Kept): void {
    this.#kept.delete(fd);
    const free = this.#freeRooms[roomBits(room.bytes.length)];
    if (free !== undefined && free.length < MAX_FREE_ROOMS) free.push(room);
  }
}
