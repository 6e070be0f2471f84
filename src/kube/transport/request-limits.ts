/**
 * Ends requests on time: by their signal or by a timeout.
 */
import type { Clock } from '../../clock/clock.ts';
import { KubeError } from '../kube-error.ts';
import { errorOfFailure, nameOf, type CallName } from './request-error.ts';
import { requestLimitHint } from './open-requests.ts';

/** Enforces the limits of one request, from its start until {@link CallLimits.end}. */
export class CallLimits {
  readonly #call: CallName;
  readonly #clock: Clock;
  readonly #caller: AbortSignal | undefined;
  readonly #onCallerAbort: () => void;
  #stopClock: () => void;
  /** Stops the current step of the request. */
  #stopWork: (() => void) | undefined;
  /** When the last byte was received, once silence is limited. */
  #touchedMs = 0;
  /** Why the request was canceled, if it was. */
  #canceled: KubeError | undefined;

  constructor(call: CallName, clock: Clock, limitMs: number, caller: AbortSignal | undefined) {
    this.#call = call;
    this.#clock = clock;
    this.#caller = caller;
    this.#onCallerAbort = () => this.#cancel('Aborted', 'canceled by the caller');
    this.#stopClock = clock.every(limitMs, () =>
      this.#cancel('TimedOut', `no response within ${limitMs / 1000} s${requestLimitHint()}`),
    );
    caller?.addEventListener('abort', this.#onCallerAbort);
    if (caller?.aborted) this.#onCallerAbort();
  }

  /**
   * Registers how to stop the step that starts now. `stop` is called when the request is canceled or ends, when another
   * step starts, or immediately if the request was canceled before.
   */
  stopBy(stop: () => void): void {
    this.#stopWork?.();
    this.#stopWork = stop;
    if (this.#canceled !== undefined) stop();
  }

  /**
   * Waits for work that cannot be stopped. If the request is canceled first, the work is left running. @throws
   * KubeError if the request is canceled
   */
  async unlessCanceled<T>(work: Promise<T>): Promise<T> {
    const { promise: canceled, reject } = Promise.withResolvers<never>();
    this.stopBy(() => {
      if (this.#canceled !== undefined) reject(this.#canceled);
    });
    return Promise.race([work, canceled]);
  }

  /** Replaces the total time limit with a limit on the time since the last byte. */
  limitSilence(limitMs: number): void {
    this.#stopClock();
    this.touch();
    this.#stopClock = this.#clock.every(limitMs / 4, () => {
      if (this.#clock.nowMs() - this.#touchedMs < limitMs) return;
      this.#cancel('TimedOut', `silent for ${limitMs / 1000} s`);
    });
  }

  /** Records that a byte was received. */
  touch(): void {
    this.#touchedMs = this.#clock.nowMs();
  }

  /** Returns the error for a failure. If the request was canceled, returns why. */
  errorOf(failure: unknown): KubeError {
    return this.#canceled ?? errorOfFailure(this.#call, failure);
  }

  /** Ends the request, and closes a connection that is still busy with it. */
  end(): void {
    this.#stopClock();
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
    this.#stopWork?.();
    this.#stopWork = undefined;
  }

  #cancel(reason: 'Aborted' | 'TimedOut', sentence: string): void {
    this.#canceled ??= new KubeError(reason, `${nameOf(this.#call)}: ${sentence}`, {
      cause: reason === 'Aborted' ? this.#caller?.reason : undefined,
    });
    this.#stopClock();
    this.#stopWork?.();
  }
}
