/** Queues sockets that have used up their turn and have more to read. Other sockets come first. */
import { FLAG, type SocketTable } from '../socket-table.ts';

/** The queue of one engine. */
export class ReadyQueue {
  readonly #sockets: SocketTable;
  #queue: number[] = [];
  /** Swapped with the queue on each run, to avoid allocating an array. */
  #spareQueue: number[] = [];

  constructor(sockets: SocketTable) {
    this.#sockets = sockets;
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  add(fd: number): void {
    if (this.#sockets.has(fd, FLAG.queued)) return;
    this.#sockets.set(fd, FLAG.queued);
    this.#queue.push(fd);
  }

  /** Gives one more turn to each socket that is queued now. */
  run(turn: (fd: number) => void): void {
    const queue = this.#queue;
    this.#queue = this.#spareQueue;
    this.#spareQueue = queue;
    for (const fd of queue) {
      if (!this.#sockets.has(fd, FLAG.queued)) continue; // closed since
      this.#sockets.clear(fd, FLAG.queued);
      turn(fd);
    }
    queue.length = 0;
  }
}
