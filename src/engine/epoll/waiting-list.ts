/**
 * Clients that wait for something, oldest first. A client is on one list at most. Its neighbors are in the arrays of
 * {@link Ends}, so that adding and removing allocate nothing.
 */
import type { Ends } from './ends.ts';

const NOBODY = -1;

/** A linked list of clients. */
export class WaitingList implements Iterable<number> {
  size = 0;

  readonly #ends: Ends;
  /** The value of {@link Ends.list} for clients of this list. Not 0. */
  readonly #id: number;
  #first = NOBODY;
  #last = NOBODY;

  constructor(ends: Ends, id: number) {
    this.#ends = ends;
    this.#id = id;
  }

  /** Appends a client that is on no list. */
  add(fd: number): void {
    const ends = this.#ends;
    ends.list[fd] = this.#id;
    ends.before[fd] = this.#last;
    ends.behind[fd] = NOBODY;
    if (this.#last === NOBODY) this.#first = fd;
    else ends.behind[this.#last] = fd;
    this.#last = fd;
    this.size++;
  }

  /** Removes a client. Returns false if it was not on this list. */
  delete(fd: number): boolean {
    const ends = this.#ends;
    if (ends.list[fd] !== this.#id) return false;
    const before = ends.before[fd] ?? NOBODY;
    const behind = ends.behind[fd] ?? NOBODY;
    if (before === NOBODY) this.#first = behind;
    else ends.behind[before] = behind;
    if (behind === NOBODY) this.#last = before;
    else ends.before[behind] = before;
    ends.list[fd] = 0;
    this.size--;
    return true;
  }

  /** Iterates over all clients. The current one may be removed. */
  *[Symbol.iterator](): IterableIterator<number> {
    for (let fd = this.#first; fd !== NOBODY;) {
      const behind = this.#ends.behind[fd] ?? NOBODY;
      yield fd;
      fd = behind;
    }
  }
}
