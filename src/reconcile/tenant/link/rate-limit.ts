/**
 * Limits how often something happens, however often it is requested.
 */
import type { Clock } from '../../../clock/clock.ts';

/** Turns that are at least an interval apart. Requests in between share the next turn. */
export class RateLimit {
  readonly #intervalMs: number;
  readonly #clock: Clock;
  /** Time of the last turn, which may be in the future. */
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(intervalMs: number, clock: Clock) {
    this.#intervalMs = intervalMs;
    this.#clock = clock;
  }

  /** Counts a turn that has taken place now without a request. */
  used(): void {
    this.#lastMs = Math.max(this.#lastMs, this.#clock.nowMs());
  }

  /** Requests a turn. Returns the delay until it; requests before a scheduled turn share that turn. */
  delayMs(): number {
    const nowMs = this.#clock.nowMs();
    if (this.#lastMs <= nowMs) this.#lastMs = Math.max(nowMs, this.#lastMs + this.#intervalMs);
    return this.#lastMs - nowMs;
  }
}
