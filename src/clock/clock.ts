/**
 * Time, passed in so that a test can move it.
 */

/** A clock that never goes back, and a tick. */
export interface Clock {
  /** Milliseconds since some moment. */
  nowMs(): number;
  /** Calls `run` again and again until the function it returns is called. Keeps no process alive. */
  every(periodMs: number, run: () => void): () => void;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  every(periodMs, run) {
    const timer = setInterval(run, periodMs);
    timer.unref();
    return () => clearInterval(timer);
  },
};
