/** Debounces events that come in bursts, such as those of a file that is being written. */

interface DebounceOptions {
  /** Quiet time after the last event before the action runs. */
  readonly waitMs: number;
  /** Maximum time between the first event and the action, for events that never pause. */
  readonly maxWaitMs: number;
  readonly action: () => void;
}

/** Runs an action once per burst of events. */
export class Debounce {
  readonly #options: DebounceOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #firstEventMs = 0;
  #isStopped = false;

  constructor(options: DebounceOptions) {
    this.#options = options;
  }

  /** Records an event. */
  readonly trigger = (): void => {
    if (this.#isStopped) return;
    const { waitMs, maxWaitMs, action } = this.#options;
    const nowMs = performance.now();
    if (this.#timer === undefined) this.#firstEventMs = nowMs;
    else clearTimeout(this.#timer);
    const remainingMs = this.#firstEventMs + maxWaitMs - nowMs;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        action();
      },
      Math.max(0, Math.min(waitMs, remainingMs)),
    );
  };

  /** Cancels a pending action and ignores later events. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }
}
