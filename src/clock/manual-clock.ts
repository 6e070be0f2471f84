/**
 * For tests only: time that passes when a test says so.
 */
import type { Clock } from './clock.ts';

/** For tests: a clock that stands until it is moved. */
export class ManualClock implements Clock {
  #nowMs = 0;
  readonly #ticks = new Set<{
    readonly periodMs: number;
    readonly run: () => void;
    dueMs: number;
  }>();

  nowMs(): number {
    return this.#nowMs;
  }

  every(periodMs: number, run: () => void): () => void {
    const tick = { periodMs, run, dueMs: this.#nowMs + periodMs };
    this.#ticks.add(tick);
    return () => void this.#ticks.delete(tick);
  }

  /** Moves on by `ms`; each tick that is due runs once, at the end. */
  advance(ms: number): void {
    this.#nowMs += ms;
    for (const tick of this.#ticks) {
      if (tick.dueMs > this.#nowMs) continue;
      tick.dueMs = this.#nowMs + tick.periodMs;
      tick.run();
    }
  }
}
