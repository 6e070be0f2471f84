/**
 * For tests only: a clock that a test advances.
 */
import type { Clock } from './clock.ts';

interface Timer {
  readonly periodMs: number;
  readonly run: () => void;
  readonly isOneShot: boolean;
  dueMs: number;
}

/** A clock that only advances by {@link advance}. */
export class ManualClock implements Clock {
  readonly #startMs: number;
  #nowMs = 0;
  readonly #timers = new Set<Timer>();

  /** @param start - The initial date. Default: now. */
  constructor(start = new Date()) {
    this.#startMs = start.getTime();
  }

  nowMs(): number {
    return this.#nowMs;
  }

  now(): Date {
    return new Date(this.#startMs + this.#nowMs);
  }

  every(periodMs: number, run: () => void): () => void {
    return this.#add(periodMs, run, false);
  }

  after(delayMs: number, run: () => void): () => void {
    return this.#add(delayMs, run, true);
  }

  timeoutSignal(delayMs: number): AbortSignal {
    const timeout = new AbortController();
    this.after(delayMs, () =>
      timeout.abort(new DOMException('The operation timed out.', 'TimeoutError')),
    );
    return timeout.signal;
  }

  /** The time when the next timer is due. Undefined if there is none. */
  get nextDueMs(): number | undefined {
    let next: number | undefined;
    for (const { dueMs } of this.#timers) next = Math.min(next ?? dueMs, dueMs);
    return next;
  }

  /** Advances the clock. Each timer that is due runs once, at the new time. */
  advance(ms: number): void {
    this.#nowMs += ms;
    for (const timer of this.#timers) {
      if (timer.dueMs > this.#nowMs) continue;
      if (timer.isOneShot) this.#timers.delete(timer);
      timer.dueMs = this.#nowMs + timer.periodMs;
      timer.run();
    }
  }

  #add(periodMs: number, run: () => void, isOneShot: boolean): () => void {
    const timer = { periodMs, run, isOneShot, dueMs: this.#nowMs + periodMs };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }
}
