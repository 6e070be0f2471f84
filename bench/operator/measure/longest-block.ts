/** The longest block of the operator's event loop while something is measured. */
import type { Lab } from '../lab.ts';

/** The operator's metric covers one to two minutes. */
const EVERY_MS = 20_000;

/** Reads the metric until it is disposed of. */
export class LongestBlock implements Disposable {
  readonly #lab: Lab;
  readonly #timer: NodeJS.Timeout;
  #seconds = 0;

  constructor(lab: Lab) {
    this.#lab = lab;
    this.#timer = setInterval(() => {
      // An operator that just starts serves no metrics yet; the last read has no excuse.
      this.#read().catch(() => undefined);
    }, EVERY_MS);
  }

  /** In seconds. */
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
