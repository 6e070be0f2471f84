/** Tracks the longest block of the operator's event loop during a measurement. */
import type { Block, Lab } from '../lab.ts';

/** The operator's metric covers one to two minutes, so it is read more often. */
const EVERY_MS = 20_000;

/** Reads the metric periodically until it is disposed. */
export class LongestBlock implements Disposable {
  readonly #lab: Lab;
  readonly #timer: NodeJS.Timeout;
  #longest: Block = { seconds: 0, busySeconds: 0 };

  constructor(lab: Lab) {
    this.#lab = lab;
    this.#timer = setInterval(() => {
      // A starting operator serves no metrics yet. Only an error of the last read is reported.
      this.#read().catch(() => undefined);
    }, EVERY_MS);
  }

  /** Returns the longest block. */
  async longest(): Promise<Block> {
    await this.#read();
    return this.#longest;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    const { seconds, busySeconds } = await this.#lab.longestBlock();
    this.#longest = {
      seconds: Math.max(this.#longest.seconds, seconds),
      busySeconds: Math.max(this.#longest.busySeconds, busySeconds),
    };
  }
}
