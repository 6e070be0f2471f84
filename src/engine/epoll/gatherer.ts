/**
 * Bulk that comes in small pieces, as from a proxy that hands over 16 KB at a time. Each piece would cost a wake-up, a
 * read and a write, and no read would be large enough to earn a pipe.
 *
 * From an end that is fast enough, bytes are left in the kernel to gather: it wakes us for {@link WAKE_BYTES} at once
 * (SO_RCVLOWAT), and at each look, a millisecond after the last one or little more, all that has come by then is taken.
 * A FIN and a reset wake us as ever.
 *
 * Whoever waits for an answer to each piece, or to a window full of them, becomes slower by that. So an end is held to what
 * it brought before: half of it is enough, less for a few looks in a row and it is read as ever. If it was never as fast
 * while it gathered, the next {@link IDLE_PIECES} do not count.
 */
import { FLAG, type Ends } from './ends.ts';
import { setWakeBytes } from './socket.ts';

/** The longest sleep while bytes gather. Between two looks is at least half of it. */
export const LOOK_MS = 1;
/** What is worth a wake-up. */
export const WAKE_BYTES = 128 * 1024;
/** A run of so many pieces, none smaller than this, each all that there was, and all within this time. */
const RUN_PIECES = 64;
const PIECE_BYTES = 8 * 1024;
const RUN_MS = 32;
/** How many looks in a row an end may be slow. */
const SLOW_LOOKS = 4;
/** 64 MB of 16 KB each: a try costs 5 ms. */
const IDLE_PIECES = 4096;

/** Of an end whose bytes gather. */
interface Gathering {
  /** What it has to bring. */
  readonly bytesPerMs: number;
  /** How many its peer had taken at the last look. */
  takenBytes: number;
  slowLooks: number;
  wasFast: boolean;
}

/** The ends of one engine whose bytes gather. */
export class Gatherer {
  readonly #ends: Ends;
  readonly #nowMs: () => number;
  readonly #gathering = new Map<number, Gathering>();
  #lookedMs = 0;

  /** `nowMs` is a clock. Default: that of the machine. */
  constructor(ends: Ends, nowMs = () => performance.now()) {
    this.#ends = ends;
    this.#nowMs = nowMs;
  }

  get isEmpty(): boolean {
    return this.#gathering.size === 0;
  }

  /** An end has brought so much, and that was all there was. Whether its bytes gather from now on. */
  brought(end: number, bytes: number): boolean {
    const ends = this.#ends;
    if (ends.has(end, FLAG.gathers)) return false;
    const before = ends.pieces[end] ?? 0;
    if (bytes < PIECE_BYTES) {
      if (before > 0) ends.pieces[end] = 0;
      return false;
    }
    const pieces = before + 1;
    ends.pieces[end] = pieces === RUN_PIECES ? 0 : pieces;
    if (pieces === 1) ends.stageMs[end] = this.#nowMs();
    if (pieces < RUN_PIECES) return false;
    const elapsedMs = this.#nowMs() - (ends.stageMs[end] ?? 0);
    return elapsedMs <= RUN_MS && this.#begin(end, (RUN_PIECES * bytes) / elapsedMs / 2);
  }

  /** Looks at all of them, if it is time to: `take` takes what an end has brought. */
  look(take: (end: number) => void): void {
    const nowMs = this.#nowMs();
    const elapsedMs = nowMs - this.#lookedMs;
    if (elapsedMs < LOOK_MS / 2) return;
    this.#lookedMs = nowMs;
    for (const [end, gathering] of this.#gathering) {
      const takenBytes = this.#takenFrom(end);
      const isFast = takenBytes - gathering.takenBytes >= elapsedMs * gathering.bytesPerMs;
      gathering.takenBytes = takenBytes;
      gathering.wasFast ||= isFast;
      gathering.slowLooks = isFast ? 0 : gathering.slowLooks + 1;
      if (gathering.slowLooks === SLOW_LOOKS) this.#end(end, gathering.wasFast);
      take(end);
    }
  }

  /** The end is over. */
  forget(end: number): void {
    this.#gathering.delete(end);
  }

  #begin(end: number, bytesPerMs: number): boolean {
    if (!setWakeBytes(end, WAKE_BYTES)) return false;
    if (this.isEmpty) this.#lookedMs = this.#nowMs();
    const takenBytes = this.#takenFrom(end);
    this.#gathering.set(end, { bytesPerMs, takenBytes, slowLooks: 0, wasFast: false });
    this.#ends.set(end, FLAG.gathers);
    return true;
  }

  /** From now on each byte wakes us, first of all those that are there. */
  #end(end: number, wasFast: boolean): void {
    this.#gathering.delete(end);
    this.#ends.clear(end, FLAG.gathers);
    if (!wasFast) this.#ends.pieces[end] = -IDLE_PIECES;
    setWakeBytes(end, 1);
  }

  #takenFrom(end: number): number {
    return this.#ends.bytes[this.#ends.peerOf(end)] ?? 0;
  }
}
