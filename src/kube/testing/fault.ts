/**
 * For tests only: how an API server can fail its callers.
 */

/** What happens to a request. */
export type Fault =
  /** An answer in place of the real one: 410, 429, 500. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly reason: string;
      readonly retryAfterSeconds?: number;
    }
  /** The connection breaks before any answer. An idempotent request on a kept connection is sent once more by fetch. */
  | { readonly kind: 'reset' }
  /** No answer, ever. */
  | { readonly kind: 'hang' }
  /** Of a watch: half of a line, and the connection breaks. */
  | { readonly kind: 'half-line' }
  /** Of a watch: half of a line, and the answer ends as if it were whole. */
  | { readonly kind: 'short-line' }
  /** Of a watch: the error that says that the version is gone. */
  | { readonly kind: 'expired-event' }
  /** The answer comes in so many pieces, with a pause before each. */
  | { readonly kind: 'slow'; readonly pieces: number; readonly pauseMs: number };

/** Which requests; a part that is absent is any. */
export interface FaultTarget {
  readonly verb?: string;
  readonly plural?: string;
  readonly name?: string;
}

/** The faults of a server, each for a number of requests. */
export class Faults {
  readonly #waiting: { readonly fault: Fault; readonly target: FaultTarget; left: number }[] = [];

  /** For the next requests that match, `times` of them. */
  add(fault: Fault, target: FaultTarget, times: number): void {
    this.#waiting.push({ fault, target, left: times });
  }

  /** No more of those that were added. */
  clear(): void {
    this.#waiting.length = 0;
  }

  /** The fault of this request, if it has one. */
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
