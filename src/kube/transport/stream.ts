/**
 * An answer that goes on and on, within the limits of its request.
 */
import type { Answer } from './body.ts';
import type { CallLimits } from './request-limits.ts';

/** An answer that comes bit by bit. */
export interface ByteStream {
  /** Undefined at its proper end. @throws KubeError */
  read(): Promise<Uint8Array | undefined>;
  /** Releases the connection. To be called in any case. */
  close(): void;
}

/** A stream out of an answer; closed, it ends the limits. */
export class LimitedStream implements ByteStream {
  readonly #answer: Answer;
  readonly #limits: CallLimits;

  constructor(answer: Answer, limits: CallLimits) {
    this.#answer = answer;
    this.#limits = limits;
  }

  async read(): Promise<Uint8Array | undefined> {
    try {
      const bytes = await this.#answer.read();
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
