/**
 * Clients that wait for something, oldest first. A client is on one list at most. Its neighbors are in the arrays of
 * {@link SocketTable}, so that adding and removing allocate nothing.
 */
import type { SocketTable } from './socket-table.ts';

const NONE = -1;

/** A linked list of clients. */
export class WaitingList implements Iterable<number> {
  size = 0;

  readonly #sockets: SocketTable;
  /** The value of {@link SocketTable.list} for clients of this list. Not 0. */
  readonly #id: number;
  #first = NONE;
  #last = NONE;

  constructor(sockets: SocketTable, id: number) {
    this.#sockets = sockets;
    this.#id = id;
  }

  /** Appends a client that is on no list. */
  add(fd: number): void {
    const sockets = this.#sockets;
    sockets.list[fd] = this.#id;
    sockets.previous[fd] = this.#last;
    sockets.next[fd] = NONE;
    if (this.#last === NONE) this.#first = fd;
    else sockets.next[this.#last] = fd;
    this.#last = fd;
    this.size++;
  }

  /** Removes a client. Returns false if it was not on this list. */
  delete(fd: number): boolean {
    const sockets = this.#sockets;
    if (sockets.list[fd] !== this.#id) return false;
    const previous = sockets.previous[fd] ?? NONE;
    const next = sockets.next[fd] ?? NONE;
    if (previous === NONE) this.#first = next;
    else sockets.next[previous] = next;
    if (next === NONE) this.#last = previous;
    else sockets.previous[next] = previous;
    sockets.list[fd] = 0;
    this.size--;
    return true;
  }

  /** Iterates over all clients. The current one may be removed. */
  *[Symbol.iterator](): IterableIterator<number> {
    for (let fd = this.#first; fd !== NONE;) {
      const next = this.#sockets.next[fd] ?? NONE;
      yield fd;
      fd = next;
    }
  }
}
