/**
 * Limits the number of events per object.
 */
import type { Clock } from '../../clock/clock.ts';

/**
 * Maximum writes for one object within {@link WINDOW_MS}: enough for a day with many problems, and few enough for etcd.
 */
const MAX_WRITES = 20;
const WINDOW_MS = 600_000;

/** Counts events per object. Objects without events for a window are removed. */
export class EventLimiter {
  readonly #clock: Clock;
  /** By object, the oldest window first. */
  readonly #windows = new Map<string, { readonly sinceMs: number; writes: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Reports whether the object may have one more event, and counts it. */
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
