/**
 * For tests only: the bytes of an answer.
 */
import type { ServerResponse } from 'node:http';
import type { ApiFailure } from '../store/api-failure.ts';
import type { Fault } from './fault.ts';
import type { JsonObject } from '../store/json.ts';

/** What is said, and how well. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: JsonObject | string;
}

/** Sends an answer, slowly if that is the fault. */
export async function sendAnswer(
  response: ServerResponse,
  { status, body }: ApiAnswer,
  fault: Fault | undefined,
): Promise<void> {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' });
  const bytes = Buffer.from(isText ? body : JSON.stringify(body));
  if (fault?.kind === 'slow') await sendSlowly(response, bytes, fault);
  else response.end(bytes);
}

/** Sends a refusal. */
export function sendFailure(response: ServerResponse, failure: ApiFailure): void {
  const { status, retryAfterSeconds } = failure;
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  });
  response.end(JSON.stringify(failure.body()));
}

async function sendSlowly(
  response: ServerResponse,
  bytes: Buffer,
  { pieces, pauseMs }: { readonly pieces: number; readonly pauseMs: number },
): Promise<void> {
  const size = Math.ceil(bytes.length / pieces);
  for (let at = 0; at < bytes.length && !response.closed; at += size) {
    await Bun.sleep(pauseMs);
    response.write(bytes.subarray(at, at + size));
  }
  response.end();
}
