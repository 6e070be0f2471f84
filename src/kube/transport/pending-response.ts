/**
 * A response that callers wait for: first for its head, then for its body.
 */
import type { HttpResponse } from './body.ts';

/** While waiting, it holds little more than one promise. */
export abstract class PendingResponse implements HttpResponse {
  abstract readonly status: number;
  abstract readonly retryAfter: string | undefined;
  /** Why the response failed, if it did. */
  protected failure: Error | undefined;
  #opening: PromiseWithResolvers<void> | undefined;
  #reading: PromiseWithResolvers<Uint8Array | undefined> | undefined;

  /** Waits for the head. @throws Error with the code of the system or of OpenSSL */
  async opened(): Promise<void> {
    this.#opening = Promise.withResolvers();
    const { promise } = this.#opening;
    this.update();
    await promise;
  }

  async read(): Promise<Uint8Array | undefined> {
    this.#reading = Promise.withResolvers();
    const { promise } = this.#reading;
    this.update();
    return promise;
  }

  /** Returns the next received bytes, if any. */
  protected abstract nextBytes(): Uint8Array | undefined;

  /** Whether the response is complete. */
  protected abstract get isComplete(): boolean;

  /** Resolves the waiting promises. Must be called after every change. */
  protected update(): void {
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
      const bytes = this.nextBytes();
      if (bytes !== undefined || this.isComplete) resolve(bytes);
      else if (failure !== undefined) reject(failure);
      else return;
      this.#reading = undefined;
    }
  }
}
