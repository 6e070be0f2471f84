/**
 * Writes that somebody undoes are written again, but ever more slowly: two who know better must not wear out a server.
 */
import type { Clock } from '../engine/clock.ts';
import { backoffMs, type BackoffLimits } from './backoff.ts';

const BACKOFF: BackoffLimits = { firstMs: 1_000, maxMs: 300_000 };
/** So long without a write, and the next one is the first again. */
const QUIET_MS = 2 * BACKOFF.maxMs;

interface LastWrite {
  readonly content: string;
  /** How many of the same, one soon after the other. */
  readonly count: number;
  readonly atMs: number;
}

/** What was written where, not long ago. */
export class Repeats {
  readonly #clock: Clock;
  /** By place, the oldest first. */
  readonly #writes = new Map<string, LastWrite>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long to wait before this is written there; 0 if it is no repetition, or none too soon. */
  waitMs(place: string, content: string): number {
    const last = this.#writes.get(place);
    if (last?.content !== content) return 0;
    return Math.max(0, last.atMs + backoffMs(last.count, 0, BACKOFF) - this.#clock.nowMs());
  }

  /** This has been written there now. */
  add(place: string, content: string): void {
    const atMs = this.#clock.nowMs();
    const last = this.#writes.get(place);
    const isRepeated = last?.content === content && atMs - last.atMs <= QUIET_MS;
    this.#writes.delete(place);
    this.#writes.set(place, { content, atMs, count: isRepeated ? last.count + 1 : 1 });
    for (const [other, { atMs: wroteMs }] of this.#writes) {
      if (atMs - wroteMs <= QUIET_MS) return;
      this.#writes.delete(other);
    }
  }
}
