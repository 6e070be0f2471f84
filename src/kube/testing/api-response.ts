/**
 * For tests only: the bytes of an answer, and what they are written to.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { delay } from '../backoff.ts';
import type { ApiFailure } from '../store/api-failure.ts';
import type { JsonObject } from '../store/json.ts';
import type { Fault } from './fault.ts';

/** What is said, and how well. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: JsonObject | string;
}

/** Where an answer goes. */
export interface ApiResponse {
  readonly headersSent: boolean;
  /** Nothing more can be written. */
  readonly closed: boolean;
  begin(status: number, headers: Readonly<Record<string, string>>): void;
  /** Sends the head at once: its body may be a minute away. */
  flush(): void;
  write(text: string | Uint8Array): void;
  /** The answer is complete. */
  end(text?: string | Uint8Array): void;
  /** Breaks the connection. */
  reset(): void;
  /** Breaks it when what was written has been sent. */
  resetSoon(): void;
  /** Calls `run` when the answer is complete or its connection is gone. */
  onClose(run: () => void): void;
}

const NEVER = new AbortController().signal;

/** Sends an answer, slowly if that is the fault. */
export async function sendAnswer(
  response: ApiResponse,
  { status, body }: ApiAnswer,
  fault: Fault | undefined,
  clock: Clock = systemClock,
): Promise<void> {
  const isText = typeof body === 'string';
  response.begin(status, { 'content-type': isText ? 'text/plain' : 'application/json' });
  const bytes = Buffer.from(isText ? body : JSON.stringify(body));
  if (fault?.kind === 'slow') await sendSlowly(response, bytes, fault, clock);
  else response.end(bytes);
}

/** Sends a refusal. */
export function sendFailure(response: ApiResponse, failure: ApiFailure): void {
  const { status, retryAfterSeconds } = failure;
  response.begin(status, {
    'content-type': 'application/json',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  });
  response.end(JSON.stringify(failure.body()));
}

async function sendSlowly(
  response: ApiResponse,
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
