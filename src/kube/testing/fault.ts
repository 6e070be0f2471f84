/**
 * For tests only: faults that a test API server can inject.
 */

/** A fault in the response to a request. */
export type Fault =
  /** An error response instead of the real one: 410, 429, 500. */
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly reason: string;
      readonly retryAfterSeconds?: number;
    }
  /** The connection is reset before any response. On a reused connection, fetch retries an idempotent request once. */
  | { readonly kind: 'reset' }
  /** No response, ever. */
  | { readonly kind: 'hang' }
  /** A watch sends half of a line, and then the connection is reset. */
  | { readonly kind: 'half-line' }
  /** A watch sends half of a line, and then the response ends as if complete. */
  | { readonly kind: 'short-line' }
  /** A watch sends the error that the version is no longer available. */
  | { readonly kind: 'expired-event' }
  /** The response is sent in pieces, with a pause before each. */
  | { readonly kind: 'slow'; readonly pieces: number; readonly pauseMs: number };

/** Which requests fail. An absent field matches any. */
export interface FaultTarget {
  readonly verb?: string;
  readonly plural?: string;
  readonly name?: string;
}

/** The injected faults of a server. */
export class Faults {
  readonly #waiting: { readonly fault: Fault; readonly target: FaultTarget; left: number }[] = [];

  /** Adds a fault for the next `times` requests that match. */
  add(fault: Fault, target: FaultTarget, times: number): void {
    this.#waiting.push({ fault, target, left: times });
  }

  /** Removes all faults. */
  clear(): void {
    this.#waiting.length = 0;
  }

  /** Returns the fault for a request, if any, and counts it. */
  take(request: Required<FaultTarget>): Fault | undefined {
    const found = this.#waiting.find(({ target, left }) => left > 0 && matches(target, request));
    if (found === undefined) return undefined;
    found.left--;
    return found.fault;
  }
}

function matches(target: FaultTarget, request: Required<FaultTarget>): boolean {
  return (
    (target.verb ?? request.verb) === request.verb &&
    (target.plural ?? request.plural) === request.plural &&
    (target.name ?? request.name) === request.name
  );
}
