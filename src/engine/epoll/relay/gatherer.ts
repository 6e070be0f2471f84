/**
 * Bulk that comes in small pieces, as from a proxy that hands over 16 KB at a time. Each piece would cost a wake-up, a
 * read and a write, and no read would be large enough to earn a pipe.
 *
 * From an end that is fast enough, bytes are left in the kernel to gather: it wakes us for {@link WAKE_BYTES} at once
 * (SO_RCVLOWAT), and at each look, one to two milliseconds after the last one, all that has come by then is taken. A FIN
 * and a reset wake us as ever.
 *
 * Whoever waits for an answer to each piece, or to a window full of them, becomes slower by that. So an end is held to what
 * it brought before: if it is slower than half of that for a few looks in a row, or brings something small, it is read as
 * ever; and if it was never as fast while it gathered, its next {@link IDLE_PIECES} do not count.
 */
import { FLAG, type Ends } from '../ends.ts';
import { setWakeBytes } from '../socket.ts';

/** The shortest time between two looks, and the longest sleep while bytes gather. */
export const LOOK_MS = 1;
/** What is worth a wake-up. */
export const WAKE_BYTES = 256 * 1024;
/** A run of so many pieces, none smaller than this, each all that there was, and all within this time. */
const RUN_PIECES = 64;
const PIECE_BYTES = 8 * 1024;
const RUN_MS = 32;
/** How many looks in a row an end may be slow: at first, and once it was fast, since then it is perhaps held up. */
const SLOW_LOOKS_AT_FIRST = 4;
const SLOW_LOOKS = 12;
/** 64 MB of 16 KB each, for some 5 ms that a try takes. */
const IDLE_PIECES = 4096;

/** Of an end whose bytes gather. */
interface Gathering {
  /** What it has to bring. */
  readonly bytesPerMs: number;
  /** How many its peer had taken after the last look. */
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

  /** Looks at all of them, if it is time to: `take` takes what an end has brought, and may end it. */
  look(take: (end: number) => void): void {
    const nowMs = this.#nowMs();
    const elapsedMs = nowMs - this.#lookedMs;
    if (elapsedMs < LOOK_MS) return;
    this.#lookedMs = nowMs;
    for (const [end, gathering] of this.#gathering) {
      take(end);
      if (!this.#gathering.has(end) || this.#isBulk(end, gathering, elapsedMs)) continue;
      this.#end(end, gathering);
      take(end); // what has come since, and if it is nothing, that the end may rest
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

  /** Whether an end is to gather on, by what it has brought since the last look. */
  #isBulk(end: number, gathering: Gathering, elapsedMs: number): boolean {
    const takenBytes = this.#takenFrom(end);
    const bytes = takenBytes - gathering.takenBytes;
    gathering.takenBytes = takenBytes;
    if (bytes >= elapsedMs * gathering.bytesPerMs) {
      gathering.wasFast = true;
      gathering.slowLooks = 0;
      return true;
    }
    gathering.slowLooks++;
    const isSmall = bytes > 0 && bytes < PIECE_BYTES;
    const slowLooks = gathering.wasFast ? SLOW_LOOKS : SLOW_LOOKS_AT_FIRST;
    return !isSmall && gathering.slowLooks < slowLooks;
  }

  /** From now on each byte wakes us. */
  #end(end: number, { wasFast }: Gathering): void {
    this.#gathering.delete(end);
    this.#ends.clear(end, FLAG.gathers);
    if (!wasFast) this.#ends.pieces[end] = -IDLE_PIECES;
    setWakeBytes(end, 1);
  }

  #takenFrom(end: number): number {
    return this.#ends.bytes[this.#ends.peerOf(end)] ?? 0;
  }
}
