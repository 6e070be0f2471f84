/**
 * When to act on events that come in bursts, as those of a file that is being written do: a moment after the last of them,
 * and no later than some time after the first, so that what never rests is seen all the same.
 */

/** Options of {@link Settling}. */
export interface SettlingOptions {
  /** So long after the last event. */
  readonly afterMs: number;
  /** But no later than so long after the first. */
  readonly limitMs: number;
  readonly act: () => void;
}

/** The events of one place. */
export class Settling {
  readonly #options: SettlingOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #firstEventMs = 0;
  #isStopped = false;

  constructor(options: SettlingOptions) {
    this.#options = options;
  }

  /** Something has happened. */
  readonly sawEvent = (): void => {
    if (this.#isStopped) return;
    const { afterMs, limitMs, act } = this.#options;
    const nowMs = performance.now();
    if (this.#timer === undefined) this.#firstEventMs = nowMs;
    else clearTimeout(this.#timer);
    const leftMs = this.#firstEventMs + limitMs - nowMs;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        act();
      },
      Math.max(0, Math.min(afterMs, leftMs)),
    );
  };

  /** Nothing is acted on from now on. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }
}
