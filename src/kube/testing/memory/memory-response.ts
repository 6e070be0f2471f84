/**
 * For tests only: an in-memory response with its server and client ends.
 */
import type { HttpResponse } from '../../transport/body.ts';
import type { ResponseWriter } from '../api-response.ts';

/** A response that the server writes and the client reads. */
export class MemoryResponse implements ResponseWriter, HttpResponse {
  status = 0;
  retryAfter: string | undefined;
  headersSent = false;
  closed = false;
  readonly #unread: Uint8Array[] = [];
  readonly #onClose: (() => void)[] = [];
  #failure: Error | undefined;
  #isEnded = false;
  #opening: PromiseWithResolvers<HttpResponse> | undefined;
  #reading: PromiseWithResolvers<Uint8Array | undefined> | undefined;

  begin(status: number, headers: Readonly<Record<string, string>>): void {
    this.status = status;
    this.retryAfter = headers['retry-after'];
    this.headersSent = true;
    this.#wake();
  }

  /** Does nothing, since nothing is buffered. */
  flush(): void {}

  write(text: string | Uint8Array): void {
    if (this.closed) return;
    this.#unread.push(typeof text === 'string' ? Buffer.from(text) : text);
    this.#wake();
  }

  end(text?: string | Uint8Array): void {
    if (this.closed) return;
    if (text !== undefined) this.write(text);
    this.#isEnded = true;
    this.#close();
  }

  reset(): void {
    this.#unread.length = 0;
    // Every request ends with a reset, mostly after its response. No error is created in that case.
    if (!this.closed) this.resetSoon();
  }

  resetSoon(): void {
    this.fail(Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' }));
  }

  /** Ends the response with an error, which the client receives after everything written before. */
  fail(error: unknown): void {
    if (!this.#isEnded) this.#failure ??= error instanceof Error ? error : new Error(String(error));
    this.#close();
  }

  onClose(run: () => void): void {
    if (this.closed) run();
    else this.#onClose.push(run);
  }

  /** Resolves when the headers are available. @throws Error with the code of the system */
  async opened(): Promise<HttpResponse> {
    this.#opening = Promise.withResolvers();
    const { promise } = this.#opening;
    this.#wake();
    return promise;
  }

  async read(): Promise<Uint8Array | undefined> {
    this.#reading = Promise.withResolvers();
    const { promise } = this.#reading;
    this.#wake();
    return promise;
  }

  #close(): void {
    if (!this.closed) {
      this.closed = true;
      for (const run of this.#onClose.splice(0)) run();
    }
    this.#wake();
  }

  #wake(): void {
    if (this.#opening !== undefined) {
      const { resolve, reject } = this.#opening;
      if (this.headersSent) resolve(this);
      else if (this.#failure !== undefined) reject(this.#failure);
      else return;
      this.#opening = undefined;
    }
    if (this.#reading !== undefined) {
      const { resolve, reject } = this.#reading;
      const bytes = this.#unread.shift();
      if (bytes !== undefined || this.#isEnded) resolve(bytes);
      else if (this.#failure !== undefined) reject(this.#failure);
      else return;
      this.#reading = undefined;
    }
  }
}
