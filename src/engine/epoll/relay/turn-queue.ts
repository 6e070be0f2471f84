/**
 * Sockets whose turn is over and that have more to read. The others come first.
 */
import { FLAG, type SocketTable } from '../socket-table.ts';

/** The queue of one engine. */
export class TurnQueue {
  readonly #sockets: SocketTable;
  #queue: number[] = [];
  /** Alternates with the other array, so that none is allocated. */
  #spareQueue: number[] = [];

  constructor(sockets: SocketTable) {
    this.#sockets = sockets;
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  add(end: number): void {
    if (this.#sockets.has(end, FLAG.queued)) return;
    this.#sockets.set(end, FLAG.queued);
    this.#queue.push(end);
  }

  /** Gives one more turn to each socket that is queued now. */
  run(turn: (end: number) => void): void {
    const queue = this.#queue;
    this.#queue = this.#spareQueue;
    this.#spareQueue = queue;
    for (const end of queue) {
      if (!this.#sockets.has(end, FLAG.queued)) continue; // closed since
      this.#sockets.clear(end, FLAG.queued);
      turn(end);
    }
    queue.length = 0;
  }
}
