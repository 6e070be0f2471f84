/**
 * How many events an object may have.
 */
import type { Clock } from '../../clock/clock.ts';

/** So many writes for one object within {@link WINDOW_MS}: more than a rough day needs, few enough for etcd. */
const MAX_WRITES = 20;
const WINDOW_MS = 600_000;

/** Counts per object. Objects that have been silent for a window are forgotten. */
export class EventLimiter {
  readonly #clock: Clock;
  /** By object, the oldest window first. */
  readonly #windows = new Map<string, { readonly sinceMs: number; writes: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the object may have one more, which is counted. */
  admits(object: string): boolean {
    const nowMs = this.#clock.nowMs();
    for (const [other, { sinceMs }] of this.#windows) {
      if (nowMs - sinceMs < WINDOW_MS) break;
      this.#windows.delete(other);
    }
    const window = this.#windows.get(object) ?? { sinceMs: nowMs, writes: 0 };
    this.#windows.set(object, window);
    if (window.writes >= MAX_WRITES) return false;
    window.writes++;
    return true;
  }
}
