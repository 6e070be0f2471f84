/**
 * An answer and its bytes, whoever brought them.
 */
import { ByteCollector } from './byte-collector.ts';

/** An answer whose head has come. */
export interface Answer {
  readonly status: number;
  /** The header of that name, as it came. */
  readonly retryAfter: string | undefined;
  /** The next bytes of the body, undefined at its proper end. */
  read(): Promise<Uint8Array | undefined>;
}

/** A whole body, or the beginning of one that is longer. */
export interface BoundedBytes {
  readonly content: Buffer;
  readonly isWhole: boolean;
}

/** Reads at most this much of a body. */
export async function bytesWithin(answer: Answer, limit: number): Promise<BoundedBytes> {
  const bytes = new ByteCollector();
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
    bytes.add(chunk);
    if (bytes.length > limit) return { content: bytes.take(limit), isWhole: false };
  }
  return { content: bytes.take(), isWhole: true };
}

/** The answer in a response of `fetch`. */
export function answerIn(response: Response): Answer {
  const reader = readerOf(response);
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after') ?? undefined,
    read: async () => (await reader?.read())?.value,
  };
}

interface Reader {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>;
}

/** Bun's types do not say what a body is made of. */
function readerOf(response: Response): Reader | undefined {
  return response.body?.getReader() as Reader | undefined;
}
