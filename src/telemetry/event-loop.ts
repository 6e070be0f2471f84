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

/** The longest durations of a window. */
interface Longest {
  lateMs: number;
  busyMs: number;
}

/** Measures blocks of the event loop. */
export class EventLoopMonitor {
  readonly lateness = new Histogram([0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]);
  readonly #clock: Clock;
  readonly #cpuMs: () => number;
  #lastFiredMs = 0;
  #lastCpuMs = 0;
  #windowStartMs = 0;
  #current: Longest = { lateMs: 0, busyMs: 0 };
  #previous: Longest = { lateMs: 0, busyMs: 0 };

  /** @param cpuMs - The CPU time of the thread so far. Default: that of this thread. */
  constructor(clock: Clock, cpuMs = threadCpuMs) {
    this.#clock = clock;
    this.#cpuMs = cpuMs;
  }

  /** Longest block in the last one to two minutes. */
  get longestSeconds(): number {
    return this.#longest('lateMs') / 1000;
  }

  /**
   * The same, but only the time that the thread had a CPU. The rest of a block is not caused by this process: the
   * machine ran other programs, or the CPU limit of the container was reached.
   */
  get longestBusySeconds(): number {
    return this.#longest('busyMs') / 1000;
  }

  /** Measures until the returned function is called. */
  start(): () => void {
    this.#lastFiredMs = this.#clock.nowMs();
    this.#lastCpuMs = this.#cpuMs();
    this.#windowStartMs = this.#lastFiredMs;
    return this.#clock.every(PERIOD_MS, () => this.#measure());
  }

  #measure(): void {
    const nowMs = this.#clock.nowMs();
    const cpuMs = this.#cpuMs();
    const lateMs = Math.max(0, nowMs - this.#lastFiredMs - PERIOD_MS);
    const busyMs = Math.min(lateMs, cpuMs - this.#lastCpuMs);
    this.#lastFiredMs = nowMs;
    this.#lastCpuMs = cpuMs;
    this.lateness.observe(lateMs / 1000);
    this.#rotateWindow(nowMs);
    if (lateMs > this.#current.lateMs) this.#current.lateMs = lateMs;
    if (busyMs > this.#current.busyMs) this.#current.busyMs = busyMs;
  }

  #longest(kind: keyof Longest): number {
    this.#rotateWindow(this.#clock.nowMs());
    return Math.max(this.#current[kind], this.#previous[kind]);
  }

  #rotateWindow(nowMs: number): void {
    const sinceMs = nowMs - this.#windowStartMs;
    if (sinceMs < WINDOW_MS) return;
    this.#previous = sinceMs < 2 * WINDOW_MS ? this.#current : { lateMs: 0, busyMs: 0 };
    this.#current = { lateMs: 0, busyMs: 0 };
    this.#windowStartMs = nowMs;
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
