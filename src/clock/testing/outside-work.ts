/**
 * For tests only: work that goes on outside of the event loop, as with sockets and threads.
 */

/** Counts it. No time of a driven clock may pass while some of it is under way. */
export class OutsideWork {
  #started = 0;
  #pending = 0;
  readonly #waiting: (() => void)[] = [];

  /** How much of it has begun so far. */
  get started(): number {
    return this.#started;
  }

  /** Counts one piece of work for as long as it takes. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#started++;
    this.#pending++;
    try {
      return await work;
    } finally {
      if (--this.#pending === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }

  /** Resolves when none of it is under way. */
  async idle(): Promise<void> {
    if (this.#pending === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await promise;
  }
}
