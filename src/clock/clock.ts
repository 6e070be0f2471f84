/**
 * Time, passed in so that a test can move it.
 */

/** Elapsed time, wall-clock time and timers. No timer keeps a process alive. */
export interface Clock {
  /** Milliseconds since some moment. Never goes back. */
  nowMs(): number;
  /** The date and the time of day. */
  now(): Date;
  /** Calls `run` again and again until the function it returns is called. */
  every(periodMs: number, run: () => void): () => void;
  /** Calls `run` once, unless the function it returns is called before. */
  after(delayMs: number, run: () => void): () => void;
  /** Aborts after this time with a `TimeoutError`, as `AbortSignal.timeout` does. */
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
