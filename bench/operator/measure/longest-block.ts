/** Tracks the longest block of the operator's event loop during a measurement. */
import type { Lab } from '../lab.ts';

/** The operator's metric covers one to two minutes, so it is read more often. */
const EVERY_MS = 20_000;

/** Reads the metric periodically until it is disposed. */
export class LongestBlock implements Disposable {
  readonly #lab: Lab;
  readonly #timer: NodeJS.Timeout;
  #seconds = 0;

  constructor(lab: Lab) {
    this.#lab = lab;
    this.#timer = setInterval(() => {
      // A starting operator serves no metrics yet. Only an error of the last read is reported.
      this.#read().catch(() => undefined);
    }, EVERY_MS);
  }

  /** Returns the longest block in seconds. */
  async longest(): Promise<number> {
    await this.#read();
    return this.#seconds;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    this.#seconds = Math.max(this.#seconds, await this.#lab.longestBlock());
  }
}
