/**
 * Sockets whose turn is over and that have more to read. The others come first.
 */
import { FLAG, type Ends } from '../ends.ts';

/** The queue of one engine. */
export class TurnQueue {
  readonly #ends: Ends;
  #queue: number[] = [];
  /** Alternates with the other array, so that none is allocated. */
  #spareQueue: number[] = [];

  constructor(ends: Ends) {
    this.#ends = ends;
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  add(end: number): void {
    if (this.#ends.has(end, FLAG.queued)) return;
    this.#ends.set(end, FLAG.queued);
    this.#queue.push(end);
  }

  /** Gives one more turn to each socket that is queued now. */
  run(turn: (end: number) => void): void {
    const queue = this.#queue;
    this.#queue = this.#spareQueue;
    this.#spareQueue = queue;
    for (const end of queue) {
      if (!this.#ends.has(end, FLAG.queued)) continue; // closed since
      this.#ends.clear(end, FLAG.queued);
      turn(end);
    }
    queue.length = 0;
  }
}
