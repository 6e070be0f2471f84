/**
 * For tests only: writes responses.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { delay } from '../backoff.ts';
import type { ApiFailure } from '../store/api-failure.ts';
import type { JsonObject } from '../store/json.ts';
import type { Fault } from './fault.ts';

/** The status and body of a response. */
export interface ApiResponse {
  readonly status: number;
  readonly body: JsonObject | string;
}

/** The destination of a response. */
export interface ResponseWriter {
  readonly headersSent: boolean;
  /** Whether nothing more can be written. */
  readonly closed: boolean;
  begin(status: number, headers: Readonly<Record<string, string>>): void;
  /** Sends the headers immediately. The body may come a minute later. */
  flush(): void;
  write(text: string | Uint8Array): void;
  /** Completes the response. */
  end(text?: string | Uint8Array): void;
  /** Resets the connection. */
  reset(): void;
  /** Resets the connection after the written bytes were sent. */
  resetSoon(): void;
  /** Calls `run` when the response is complete or the connection is closed. */
  onClose(run: () => void): void;
}

const NEVER = new AbortController().signal;

/** Sends a response, slowly if the fault says so. */
export async function sendResponse(
  response: ResponseWriter,
  { status, body }: ApiResponse,
  fault: Fault | undefined,
  clock: Clock = systemClock,
): Promise<void> {
  const isText = typeof body === 'string';
  response.begin(status, { 'content-type': isText ? 'text/plain' : 'application/json' });
  const bytes = Buffer.from(isText ? body : JSON.stringify(body));
  if (fault?.kind === 'slow') await sendSlowly(response, bytes, fault, clock);
  else response.end(bytes);
}

/** Sends an error response. */
export function sendFailure(response: ResponseWriter, failure: ApiFailure): void {
  const { status, retryAfterSeconds } = failure;
  response.begin(status, {
    'content-type': 'application/json',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  });
  response.end(JSON.stringify(failure.body()));
}

async function sendSlowly(
  response: ResponseWriter,
  bytes: Buffer,
  { pieces, pauseMs }: { readonly pieces: number; readonly pauseMs: number },
  clock: Clock,
): Promise<void> {
  const size = Math.ceil(bytes.length / pieces);
  for (let at = 0; at < bytes.length && !response.closed; at += size) {
    await delay(clock, pauseMs, NEVER);
    response.write(bytes.subarray(at, at + size));
  }
  response.end();
}
