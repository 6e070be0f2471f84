/** The interface of a clock. Clocks are injected, so that tests can use fake time. */

/** Elapsed time, wall-clock time and timers. Timers do not keep the process alive. */
export interface Clock {
  /** Returns the milliseconds since an arbitrary time. Never decreases. */
  nowMs(): number;
  /** Returns the current date and time. */
  now(): Date;
  /** Calls `run` once per period, until the returned function is called. */
  every(periodMs: number, run: () => void): () => void;
  /** Calls `run` once after the delay, unless the returned function is called before. */
  after(delayMs: number, run: () => void): () => void;
  /** Returns a signal that aborts after the delay with a `TimeoutError`, as `AbortSignal.timeout` does. */
  timeoutSignal(delayMs: number): AbortSignal;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  now: () => new Date(),
  every(periodMs, run) {
    const timer = setInterval(run, periodMs);
    timer.unref();
    return () => clearInterval(timer);
  },
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  timeoutSignal: (delayMs) => AbortSignal.timeout(delayMs),
};
