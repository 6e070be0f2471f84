/**
 * Limits the new connections per second of each slot, over all threads. It is a token bucket without tokens: the
 * generic cell rate algorithm (ITU-T I.371). The state of a slot is one number in shared memory: the time until which
 * its connections so far have used up the rate. Threads advance it by compare-and-exchange, so they share one limit.
 *
 * The number is in microseconds and wraps after 71 minutes. A slot that was idle for about that long may look recently
 * busy. It then gets a smaller burst once.
 */

/** Burst size: one second's worth of connections. */
const BURST_US = 1_000_000;

/** Returns the time in microseconds. All threads need the same clock to share a limit. */
type NowMicroseconds = () => number;

/** performance.now() counts from the start of each thread. Adding the origin makes the threads' clocks comparable. */
const originUs = Math.round(performance.timeOrigin * 1000);
const sharedNowUs: NowMicroseconds = () => originUs + Math.round(performance.now() * 1000);

/** The connection rates of all slots. */
export class RateLimit {
  /** Shared with the other threads. */
  readonly buffer: SharedArrayBuffer;
  readonly #usedUntil: Int32Array;
  readonly #nowUs: NowMicroseconds;

  constructor(slots: number, buffer?: SharedArrayBuffer, nowUs: NowMicroseconds = sharedNowUs) {
    this.buffer = buffer ?? new SharedArrayBuffer(slots * Int32Array.BYTES_PER_ELEMENT);
    this.#usedUntil = new Int32Array(this.buffer);
    this.#nowUs = nowUs;
  }

  /** Admits one more connection in this slot if the rate allows it. */
  admits(slot: number, perSecond: number): boolean {
    const intervalUs = Math.max(1, Math.round(1_000_000 / perSecond));
    const now = this.#nowUs() | 0;
    for (;;) {
      const usedUntil = Atomics.load(this.#usedUntil, slot);
      const ahead = (usedUntil - now) | 0;
      // A value is at most one burst ahead. A larger difference means that the value is old and the clock has wrapped.
      const used = ahead < 0 || ahead > BURST_US ? 0 : ahead;
      if (used + intervalUs > BURST_US) return false;
      const next = (now + used + intervalUs) | 0;
      if (Atomics.compareExchange(this.#usedUntil, slot, usedUntil, next) === usedUntil)
        return true;
    }
  }
}
