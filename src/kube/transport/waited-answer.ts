/**
 * An answer that callers wait for: first for its head, then for its bytes.
 */
import type { Answer } from './body.ts';

/** While it waits, there is one promise and little else. */
export abstract class WaitedAnswer implements Answer {
  abstract readonly status: number;
  abstract readonly retryAfter: string | undefined;
  /** Why nothing more will come, besides the proper end of the answer. */
  protected failure: Error | undefined;
  #opening: PromiseWithResolvers<void> | undefined;
  #reading: PromiseWithResolvers<Uint8Array | undefined> | undefined;

  /** Ends when the head has come. @throws Error with the code of the system or of OpenSSL */
  async opened(): Promise<void> {
    this.#opening = Promise.withResolvers();
    const { promise } = this.#opening;
    this.settle();
    await promise;
  }

  async read(): Promise<Uint8Array | undefined> {
    this.#reading = Promise.withResolvers();
    const { promise } = this.#reading;
    this.settle();
    return promise;
  }

  /** The next bytes, if there are some. */
  protected abstract taken(): Uint8Array | undefined;

  /** Whether the answer has come to its proper end. */
  protected abstract get isComplete(): boolean;

  /** To be called when something has happened. */
  protected settle(): void {
    const { failure } = this;
    if (this.#opening !== undefined) {
      const { resolve, reject } = this.#opening;
      if (this.status !== 0) resolve();
      else if (failure !== undefined) reject(failure);
      else return;
      this.#opening = undefined;
    }
    if (this.#reading !== undefined) {
      const { resolve, reject } = this.#reading;
      const bytes = this.taken();
      if (bytes !== undefined || this.isComplete) resolve(bytes);
      else if (failure !== undefined) reject(failure);
      else return;
      this.#reading = undefined;
    }
  }
}
