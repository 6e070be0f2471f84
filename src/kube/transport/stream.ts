/**
 * Streaming responses with limits.
 */
import type { HttpResponse } from './body.ts';
import type { CallLimits } from './request-limits.ts';

/** A streaming response. */
export interface ByteStream {
  /** Returns the next bytes, or undefined at the end. @throws KubeError */
  read(): Promise<Uint8Array | undefined>;
  /** Releases the connection. Must always be called. */
  close(): void;
}

/** A stream that enforces the limits of its request. Closing it ends the request. */
export class LimitedStream implements ByteStream {
  readonly #response: HttpResponse;
  readonly #limits: CallLimits;

  constructor(response: HttpResponse, limits: CallLimits) {
    this.#response = response;
    this.#limits = limits;
  }

  async read(): Promise<Uint8Array | undefined> {
    try {
      const bytes = await this.#response.read();
      this.#limits.touch();
      return bytes;
    } catch (failure) {
      throw this.#limits.errorOf(failure);
    }
  }

  close(): void {
    this.#limits.end();
  }
}
