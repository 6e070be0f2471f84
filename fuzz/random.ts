/**
 * Pseudorandom numbers from a seed, so that every finding is reproducible.
 */

/** Mulberry32: small, fast, and good enough to choose mutations. */
export class Random {
  #state: number;

  /** The stream of one input. The seed and the number of the input determine it. */
  constructor(seed: number, input: number) {
    this.#state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(input, 0x85ebca6b)) >>> 0;
    this.#state = this.#next();
  }

  /** Returns an integer from 0 to `bound` - 1. */
  below(bound: number): number {
    return Math.floor((this.#next() / 2 ** 32) * bound);
  }

  /** Returns true once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  /** Returns an element of the list, which must not be empty. */
  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }

  /** Returns random bytes. */
  bytes(count: number): Buffer {
    const bytes = Buffer.allocUnsafe(count);
    for (let at = 0; at < count; at++) bytes[at] = this.below(256);
    return bytes;
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}
