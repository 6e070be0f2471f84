/**
 * Responses and their bodies, independent of the transport.
 */
import { ByteCollector } from './byte-collector.ts';

/** A response whose head has been received. */
export interface HttpResponse {
  readonly status: number;
  /** The `Retry-After` header, unparsed. */
  readonly retryAfter: string | undefined;
  /** Returns the next bytes of the body, or undefined at its end. */
  read(): Promise<Uint8Array | undefined>;
}

/** A whole body, or the start of a longer one. */
interface BoundedBytes {
  readonly content: Buffer;
  readonly isComplete: boolean;
}

/** Reads a body up to a limit. */
export async function bytesWithin(response: HttpResponse, limit: number): Promise<BoundedBytes> {
  const bytes = new ByteCollector();
  for (let chunk = await response.read(); chunk !== undefined; chunk = await response.read()) {
    bytes.add(chunk);
    if (bytes.length > limit) return { content: bytes.take(limit), isComplete: false };
  }
  return { content: bytes.take(), isComplete: true };
}

/** Wraps a response of `fetch`. */
export function responseFrom(response: Response): HttpResponse {
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

/** Casts the reader: Bun's types lack the type of the chunks. */
function readerOf(response: Response): Reader | undefined {
  return response.body?.getReader() as Reader | undefined;
}
