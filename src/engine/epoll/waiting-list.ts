/**
 * Clients that wait for something, longest first. An end is on one list at most: its neighbours are in the arrays of
 * {@link Ends}, so that joining and leaving allocate nothing.
 */
import type { Ends } from './ends.ts';

const NOBODY = -1;

/** One such list. */
export class WaitingList implements Iterable<number> {
  size = 0;

  readonly #ends: Ends;
  /** What {@link Ends.list} says of those who are on it; not 0. */
  readonly #id: number;
  #first = NOBODY;
  #last = NOBODY;

  constructor(ends: Ends, id: number) {
    this.#ends = ends;
    this.#id = id;
  }

  /** Puts one at the end, who is on no list. */
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

  /** Takes one off; false if it was not there. */
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

  /** All of them; whoever is being visited may be taken off. */
  *[Symbol.iterator](): IterableIterator<number> {
    for (let fd = this.#first; fd !== NOBODY;) {
      const behind = this.#ends.behind[fd] ?? NOBODY;
      yield fd;
      fd = behind;
    }
  }
}
