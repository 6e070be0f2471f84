/**
 * The end of a request in time: by its caller, or by the clock.
 */
import type { Clock } from '../../clock/clock.ts';
import { KubeError } from '../kube-error.ts';
import { errorOfFailure, nameOf, type CallName } from './request-error.ts';
import { starvationHint } from './open-requests.ts';

/** Holds one request to its limits, from its start until {@link CallLimits.end}. */
export class CallLimits {
  readonly #call: CallName;
  readonly #clock: Clock;
  readonly #caller: AbortSignal | undefined;
  readonly #onCallerAbort: () => void;
  #stopClock: () => void;
  /** Stops what works on the request now. */
  #stopWork: (() => void) | undefined;
  /** When the last byte came, once that counts. */
  #touchedMs = 0;
  /** Why the request was given up, if it was. */
  #givenUp: KubeError | undefined;

  constructor(call: CallName, clock: Clock, limitMs: number, caller: AbortSignal | undefined) {
    this.#call = call;
    this.#clock = clock;
    this.#caller = caller;
    this.#onCallerAbort = () => this.#giveUp('Aborted', 'given up by the caller');
    this.#stopClock = clock.every(limitMs, () =>
      this.#giveUp('TimedOut', `no answer within ${limitMs / 1000} s${starvationHint()}`),
    );
    caller?.addEventListener('abort', this.#onCallerAbort);
    if (caller?.aborted) this.#onCallerAbort();
  }

  /**
   * How to stop the part of the work that begins now. It is called when the request is given up or at its end, when
   * another part begins, or at once if it is too late already.
   */
  stopBy(stop: () => void): void {
    this.#stopWork?.();
    this.#stopWork = stop;
    if (this.#givenUp !== undefined) stop();
  }

  /** Work that cannot be stopped: it is left alone. @throws why the request was given up, if that comes first */
  async orGivenUp<T>(work: Promise<T>): Promise<T> {
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    this.stopBy(() => {
      if (this.#givenUp !== undefined) reject(this.#givenUp);
    });
    return Promise.race([work, givenUp]);
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

  /** What a failure means: if the request was given up, that is why. */
  errorOf(failure: unknown): KubeError {
    return this.#givenUp ?? errorOfFailure(this.#call, failure);
  }

  /** The request is over; a connection that is still busy with it is closed. */
  end(): void {
    this.#stopClock();
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
    this.#stopWork?.();
    this.#stopWork = undefined;
  }

  #giveUp(reason: 'Aborted' | 'TimedOut', sentence: string): void {
    this.#givenUp ??= new KubeError(reason, `${nameOf(this.#call)}: ${sentence}`, {
      cause: reason === 'Aborted' ? this.#caller?.reason : undefined,
    });
    this.#stopClock();
    this.#stopWork?.();
  }
}
