/**
 * The end of a request in time: by its caller, or by the clock.
 */
import type { Clock } from '../engine/clock.ts';
import { KubeError } from './kube-error.ts';
import { errorOfFailure, nameOf, type CallName } from './transport-error.ts';

/** So many Bun keeps open when nothing else is said. */
const DEFAULT_OPEN_REQUESTS = 256;

/** Bun reads it when the process starts; to set it from within is too late. */
export const OPEN_REQUESTS_VARIABLE = 'BUN_CONFIG_MAX_HTTP_REQUESTS';

/** Of the whole process, as Bun counts: its limit is not one of a server or of a client. */
let openRequests = 0;

/**
 * How many requests this process can have open at once, watches included. Those beyond wait, silently, for another to
 * end: with more watches than this, nothing goes at all any more.
 */
export function openRequestLimit(env: Readonly<Record<string, string | undefined>>): number {
  const value = Number(env[OPEN_REQUESTS_VARIABLE]);
  return Number.isInteger(value) && value > 0 ? value : DEFAULT_OPEN_REQUESTS;
}

/** Holds one request to its limits, from its start until {@link CallLimits.end}. */
export class CallLimits {
  readonly #call: CallName;
  readonly #clock: Clock;
  readonly #caller: AbortSignal | undefined;
  readonly #abort = new AbortController();
  readonly #onCallerAbort: () => void;
  #stopClock: () => void;
  /** When the last byte came; of an answer that is read in one go nobody asks. */
  #touchedMs = 0;
  /** Why the request was given up, if it was. */
  #givenUp: KubeError | undefined;
  #hasEnded = false;

  constructor(call: CallName, clock: Clock, limitMs: number, caller: AbortSignal | undefined) {
    this.#call = call;
    this.#clock = clock;
    this.#caller = caller;
    this.#onCallerAbort = () => this.#giveUp('Aborted', 'given up by the caller');
    this.#stopClock = clock.every(limitMs, () =>
      this.#giveUp('TimedOut', `no answer within ${limitMs / 1000} s${starvation()}`),
    );
    openRequests++;
    caller?.addEventListener('abort', this.#onCallerAbort);
    if (caller?.aborted) this.#onCallerAbort();
  }

  /** For what does the work. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** From now on the time since the last byte is what counts. */
  limitSilence(limitMs: number): void {
    this.#stopClock();
    this.touch();
    this.#stopClock = this.#clock.every(limitMs / 4, () => {
      if (this.#clock.nowMs() - this.#touchedMs < limitMs) return;
      this.#giveUp('TimedOut', `silent for ${limitMs / 1000} s`);
    });
  }

  /** A byte came. */
  touch(): void {
    this.#touchedMs = this.#clock.nowMs();
  }

  /** The promise, or an error as soon as the request is given up. */
  async orGivenUp<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(this.errorOf(undefined));
      if (signal.aborted) giveUp();
      signal.addEventListener('abort', giveUp, { once: true });
      promise.then(resolve, reject);
    });
  }

  /** What a failure means: if the request was given up, that is why. */
  errorOf(failure: unknown): KubeError {
    return this.#givenUp ?? errorOfFailure(this.#call, failure);
  }

  /** The request is over; a connection that is still busy with it is closed. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    openRequests--;
    this.#stopClock();
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
    this.#abort.abort();
  }

  #giveUp(reason: 'Aborted' | 'TimedOut', sentence: string): void {
    this.#givenUp ??= new KubeError(reason, `${nameOf(this.#call)}: ${sentence}`, {
      cause: reason === 'Aborted' ? this.#caller?.reason : undefined,
    });
    this.#stopClock();
    this.#abort.abort();
  }
}

/** A request that waits in Bun's queue looks like a server that does not answer. */
function starvation(): string {
  const limit = openRequestLimit(process.env);
  return openRequests < limit
    ? ''
    : `; this process has ${openRequests} requests open and may have ${limit}: start it with ${OPEN_REQUESTS_VARIABLE}=65535`;
}
