/**
 * For tests only: work outside of the event loop, for example in sockets and threads.
 */

/** Counts such work. A driven clock does not advance while any is pending. */
export class OutsideWork {
  #started = 0;
  #pending = 0;
  readonly #waiting: (() => void)[] = [];

  /** Number of pieces of work started so far. */
  get started(): number {
    return this.#started;
  }

  /** Counts a piece of work while it is pending. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#started++;
    this.#pending++;
    try {
      return await work;
    } finally {
      if (--this.#pending === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }

  /** Resolves when no work is pending. */
  async idle(): Promise<void> {
    if (this.#pending === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await promise;
  }
}
