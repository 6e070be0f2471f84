/** For tests only: work outside of the event loop, for example in sockets and threads. */

/** Counts pending work. A driven clock does not advance while the count is above 0. */
export class OutsideWork {
  #started = 0;
  #pending = 0;
  readonly #waiting: (() => void)[] = [];

  /** Number of calls of {@link during} so far. */
  get started(): number {
    return this.#started;
  }

  /** Counts `work` as pending until it settles. */
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
