/** Measures how long the event loop of this process was blocked, by the lateness of a timer. */
import type { Clock } from '../clock/clock.ts';
import { Histogram } from './histogram.ts';

/**
 * Period of the timer. The measured duration of a block is too short by up to one period. 50 timers per second cost
 * about 0.1% of a CPU.
 */
const PERIOD_MS = 20;

/**
 * The longest block is taken from the current and the previous window, so that it does not depend on when it is read.
 */
const WINDOW_MS = 60_000;

/** Measures blocks of the event loop. */
export class EventLoopMonitor {
  readonly lateness = new Histogram([0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]);
  readonly #clock: Clock;
  #lastFiredMs = 0;
  #windowStartMs = 0;
  #longestMs = 0;
  #previousLongestMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Longest block in the last one to two minutes. */
  get longestSeconds(): number {
    this.#rotateWindow(this.#clock.nowMs());
    return Math.max(this.#longestMs, this.#previousLongestMs) / 1000;
  }

  /** Measures until the returned function is called. */
  start(): () => void {
    this.#lastFiredMs = this.#clock.nowMs();
    this.#windowStartMs = this.#lastFiredMs;
    return this.#clock.every(PERIOD_MS, () => this.#measure());
  }

  #measure(): void {
    const nowMs = this.#clock.nowMs();
    const lateMs = Math.max(0, nowMs - this.#lastFiredMs - PERIOD_MS);
    this.#lastFiredMs = nowMs;
    this.lateness.observe(lateMs / 1000);
    this.#rotateWindow(nowMs);
    if (lateMs > this.#longestMs) this.#longestMs = lateMs;
  }

  #rotateWindow(nowMs: number): void {
    const sinceMs = nowMs - this.#windowStartMs;
    if (sinceMs < WINDOW_MS) return;
    this.#previousLongestMs = sinceMs < 2 * WINDOW_MS ? this.#longestMs : 0;
    this.#longestMs = 0;
    this.#windowStartMs = nowMs;
  }
}
