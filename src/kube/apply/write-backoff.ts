/**
 * Backs off repeated writes. If another controller keeps reverting a write, it is repeated with increasing delays, so
 * that the two do not overload the API server.
 */
import type { Clock } from '../../clock/clock.ts';
import { backoffMs, type BackoffLimits } from '../backoff.ts';

const BACKOFF: BackoffLimits = { firstMs: 1_000, maxMs: 300_000 };
/** After this time without a write, the backoff starts over. */
const QUIET_MS = 2 * BACKOFF.maxMs;

interface LastWrite {
  readonly content: string;
  /** The number of identical writes in a row. */
  readonly count: number;
  readonly atMs: number;
  /** When the write was first found reverted, in this series of identical writes. */
  revertedAt?: Date | undefined;
}

/** Recent writes by key. */
export class WriteBackoff {
  readonly #clock: Clock;
  /** By key, the oldest first. */
  readonly #writes = new Map<string, LastWrite>();

  readonly #now: () => Date;

  constructor(clock: Clock, now = () => clock.now()) {
    this.#clock = clock;
    this.#now = now;
  }

  /**
   * Returns how long to wait before writing this content again. 0 if it is not a repetition, or if the delay has
   * passed.
   */
  waitMs(key: string, content: string): number {
    const last = this.#writes.get(key);
    if (last?.content !== content) return 0;
    return Math.max(0, last.atMs + backoffMs(last.count, 0, BACKOFF) - this.#clock.nowMs());
  }

  /**
   * Returns when this write was first found reverted, which is the time of the first call. Undefined if the last write
   * with this key had other content.
   */
  revertedSince(key: string, content: string): Date | undefined {
    const last = this.#writes.get(key);
    if (last?.content !== content) return undefined;
    return (last.revertedAt ??= this.#now());
  }

  /** Records a write. */
  add(key: string, content: string): void {
    const atMs = this.#clock.nowMs();
    const last = this.#writes.get(key);
    const isRepeated = last?.content === content && atMs - last.atMs <= QUIET_MS;
    this.#writes.delete(key);
    const { count, revertedAt } = isRepeated ? last : { count: 0 };
    this.#writes.set(key, { content, atMs, count: count + 1, revertedAt });
    this.forgetOld();
  }

  /** Forgets the writes whose backoff would start over. */
  forgetOld(): void {
    const nowMs = this.#clock.nowMs();
    for (const [oldest, { atMs }] of this.#writes) {
      if (nowMs - atMs <= QUIET_MS) return;
      this.#writes.delete(oldest);
    }
  }

  /** The number of remembered writes. */
  get size(): number {
    return this.#writes.size;
  }
}
