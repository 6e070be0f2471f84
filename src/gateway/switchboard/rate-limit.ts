/**
 * New connections per second for each slot, over all threads: a token bucket without tokens (the generic cell rate
 * algorithm, ITU-T I.371). All that is kept of a slot is the time until which its connections so far have used it up;
 * that is one number in shared memory, moved on by compare-and-exchange, so there is no split between threads.
 *
 * The number is in microseconds and wraps after 71 minutes. A slot that was idle for just so long may be taken for one
 * that was busy a moment ago: it then gets less of its burst, once.
 */

/** A second's worth of connections may come at once. */
const BURST_US = 1_000_000;

/** The time in microseconds; the same in all threads, or their limits would not be one. */
export type NowMicroseconds = () => number;

/** Bun's clock counts from the start of each thread; their origins make it one. */
const originUs = Math.round(performance.timeOrigin * 1000);
const sharedNowUs: NowMicroseconds = () => originUs + Math.round(performance.now() * 1000);

/** The rates of all slots. */
export class RateLimit {
  /** For the other threads. */
  readonly buffer: SharedArrayBuffer;
  readonly #usedUntil: Int32Array;
  readonly #nowUs: NowMicroseconds;

  constructor(slots: number, buffer?: SharedArrayBuffer, nowUs: NowMicroseconds = sharedNowUs) {
    this.buffer = buffer ?? new SharedArrayBuffer(slots * Int32Array.BYTES_PER_ELEMENT);
    this.#usedUntil = new Int32Array(this.buffer);
    this.#nowUs = nowUs;
  }

  /** Whether one more connection may come in this slot now; if so, it has come. */
  admits(slot: number, perSecond: number): boolean {
    const intervalUs = Math.max(1, Math.round(1_000_000 / perSecond));
    const now = this.#nowUs() | 0;
    for (;;) {
      const usedUntil = Atomics.load(this.#usedUntil, slot);
      const ahead = (usedUntil - now) | 0;
      // Never further ahead than the burst: what looks like that is long past, and has wrapped.
      const used = ahead < 0 || ahead > BURST_US ? 0 : ahead;
      if (used + intervalUs > BURST_US) return false;
      const next = (now + used + intervalUs) | 0;
      if (Atomics.compareExchange(this.#usedUntil, slot, usedUntil, next) === usedUntil)
        return true;
    }
  }
}
