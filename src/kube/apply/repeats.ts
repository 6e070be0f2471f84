/**
 * Writes that somebody undoes are written again, but ever more slowly: two who know better must not wear out a server.
 */
import type { Clock } from '../../clock/clock.ts';
import { backoffMs, type BackoffLimits } from '../backoff.ts';

const BACKOFF: BackoffLimits = { firstMs: 1_000, maxMs: 300_000 };
/** So long without a write, and the next one is the first again. */
const QUIET_MS = 2 * BACKOFF.maxMs;

interface LastWrite {
  readonly content: string;
  /** How many of the same, one soon after the other. */
  readonly count: number;
  readonly atMs: number;
  /** Since when it is undone, of all that follow on one another. */
  undoneAt?: Date | undefined;
}

/** What was written where, not long ago. */
export class Repeats {
  readonly #clock: Clock;
  /** By place, the oldest first. */
  readonly #writes = new Map<string, LastWrite>();

  readonly #now: () => Date;

  constructor(clock: Clock, now = () => clock.now()) {
    this.#clock = clock;
    this.#now = now;
  }

  /** How long to wait before this is written there; 0 if it is no repetition, or none too soon. */
  waitMs(place: string, content: string): number {
    const last = this.#writes.get(place);
    if (last?.content !== content) return 0;
    return Math.max(0, last.atMs + backoffMs(last.count, 0, BACKOFF) - this.#clock.nowMs());
  }

  /** Since when somebody undoes this there: the first time that it was asked. Undefined if it was not written last. */
  undoneSince(place: string, content: string): Date | undefined {
    const last = this.#writes.get(place);
    if (last?.content !== content) return undefined;
    return (last.undoneAt ??= this.#now());
  }

  /** This has been written there now. */
  add(place: string, content: string): void {
    const atMs = this.#clock.nowMs();
    const last = this.#writes.get(place);
    const isRepeated = last?.content === content && atMs - last.atMs <= QUIET_MS;
    this.#writes.delete(place);
    const { count, undoneAt } = isRepeated ? last : { count: 0 };
    this.#writes.set(place, { content, atMs, count: count + 1, undoneAt });
    for (const [other, { atMs: wroteMs }] of this.#writes) {
      if (atMs - wroteMs <= QUIET_MS) return;
      this.#writes.delete(other);
    }
  }
}
