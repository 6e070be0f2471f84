/**
 * How often something may happen that others ask for as often as they like.
 */
import type { Clock } from '../../../clock/clock.ts';

/** One turn at a time, no two of them nearer than the interval; who asks in between is served by the next. */
export class Pace {
  readonly #intervalMs: number;
  readonly #clock: Clock;
  /** Of the last turn, past or to come. */
  #turnMs = Number.NEGATIVE_INFINITY;

  constructor(intervalMs: number, clock: Clock) {
    this.#intervalMs = intervalMs;
    this.#clock = clock;
  }

  /** A turn was taken just now. */
  taken(): void {
    this.#turnMs = Math.max(this.#turnMs, this.#clock.nowMs());
  }

  /** How long to wait for the next turn; 0: it is now. Whoever asks before a turn that is to come waits for that one. */
  delayMs(): number {
    const nowMs = this.#clock.nowMs();
    if (this.#turnMs <= nowMs) this.#turnMs = Math.max(nowMs, this.#turnMs + this.#intervalMs);
    return this.#turnMs - nowMs;
  }
}
