/**
 * The bytes of an answer, within limits.
 */
import type { CallLimits } from './transport-limits.ts';

/** An answer that comes bit by bit. */
export interface ByteStream {
  /** Undefined at its proper end. @throws KubeError */
  read(): Promise<Uint8Array | undefined>;
  /** Releases the connection. To be called in any case. */
  close(): void;
}

/** The body of a response as it comes; closed, it ends the limits. */
export class LimitedStream implements ByteStream {
  readonly #reader: Reader | undefined;
  readonly #limits: CallLimits;

  constructor(response: Response, limits: CallLimits) {
    this.#reader = bodyOf(response)?.getReader();
    this.#limits = limits;
  }

  async read(): Promise<Uint8Array | undefined> {
    try {
      const chunk = await this.#reader?.read();
      this.#limits.touch();
      return chunk?.value;
    } catch (failure) {
      throw this.#limits.errorOf(failure);
    }
  }

  close(): void {
    this.#limits.end();
  }
}

/** A whole body, or the beginning of one that is longer. */
export interface BoundedBytes {
  readonly content: Buffer;
  readonly isWhole: boolean;
}

/** Reads at most this much. */
export async function bytesWithin(response: Response, limit: number): Promise<BoundedBytes> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bodyOf(response) ?? []) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length > limit) return { content: Buffer.concat(chunks, limit), isWhole: false };
  }
  return { content: Buffer.concat(chunks, length), isWhole: true };
}

interface Reader {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>;
}

/** Bun's types do not say what a body is made of. */
function bodyOf(response: Response) {
  return response.body as (AsyncIterable<Uint8Array> & { getReader(): Reader }) | null;
}
