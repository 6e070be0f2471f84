/**
 * How long the event loop of this process was blocked, by the lateness of a timer.
 */
import type { Clock } from '../clock/clock.ts';
import { Histogram } from './histogram.ts';

/** A block is measured up to this much too short. 50 timers per second cost about 0.1 % of a processor. */
const PERIOD_MS = 20;

/** The longest block is that of the current window and the one before, however often the page is read. */
const WINDOW_MS = 60_000;

/** Measures blocks while it runs. */
export class EventLoopMonitor {
  readonly lateness = new Histogram([0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]);
  readonly #clock: Clock;
  #firedMs = 0;
  #windowSinceMs = 0;
  #longestMs = 0;
  #longestBeforeMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The longest block of the last one to two minutes. */
  get longestSeconds(): number {
    this.#turnWindow(this.#clock.nowMs());
    return Math.max(this.#longestMs, this.#longestBeforeMs) / 1000;
  }

  /** Measures until the returned function is called. */
  start(): () => void {
    this.#firedMs = this.#clock.nowMs();
    this.#windowSinceMs = this.#firedMs;
    return this.#clock.every(PERIOD_MS, () => this.#measure());
  }

  #measure(): void {
    const nowMs = this.#clock.nowMs();
    const lateMs = Math.max(0, nowMs - this.#firedMs - PERIOD_MS);
    this.#firedMs = nowMs;
    this.lateness.observe(lateMs / 1000);
    this.#turnWindow(nowMs);
    if (lateMs > this.#longestMs) this.#longestMs = lateMs;
  }

  #turnWindow(nowMs: number): void {
    const sinceMs = nowMs - this.#windowSinceMs;
    if (sinceMs < WINDOW_MS) return;
    this.#longestBeforeMs = sinceMs < 2 * WINDOW_MS ? this.#longestMs : 0;
    this.#longestMs = 0;
    this.#windowSinceMs = nowMs;
  }
}
