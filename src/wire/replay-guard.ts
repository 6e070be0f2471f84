/**
 * Recognizes signed headers that were used before, in a fixed amount of memory.
 *
 * It stores signatures instead of nonces, so that one tenant cannot use up the header of another tenant. It stores 8 of
 * the 32 bytes; the probability that two signatures share them is 2^-64.
 *
 * When it is full, it forgets the older half early and counts that. It then no longer recognizes replays of these
 * headers. The alternative, refusing all headers, would allow one tenant whose proxies fill the guard to cut off the
 * others. A successful replay only gains a connection to the tenant's API server, without TLS. The edge offers such
 * connections to every client by SNI.
 *
 * One guard sees the headers of one thread. It does not recognize a replay that reaches another thread or replica.
 */
import { uint32 } from './bytes.ts';

interface ReplayGuardOptions {
  /** The window that headers are verified with. */
  readonly windowSeconds: number;
  /**
   * Number of headers that the guard always remembers. It remembers at most twice as many. Default 65,536, which takes
   * 2 MiB.
   */
  readonly capacity?: number;
}

/** Two generations of signatures. The older one is dropped once no header in it can still be valid. */
export class ReplayGuard {
  /** Number of times that the guard was full and forgot headers that could still be replayed. */
  forgottenEarly = 0;

  /**
   * A header may be signed up to one window in the future, and is then valid until one window after that. So it must be
   * remembered for two windows, including the last second.
   */
  readonly #generationSeconds: number;
  readonly #capacity: number;
  #current: Generation;
  #previous: Generation;
  #beganSeconds = Number.NEGATIVE_INFINITY;

  constructor({ windowSeconds, capacity = 65_536 }: ReplayGuardOptions) {
    this.#generationSeconds = 2 * windowSeconds + 1;
    this.#capacity = capacity;
    this.#current = new Generation(capacity);
    this.#previous = new Generation(capacity);
  }

  /** Number of stored signatures, at most twice the capacity. */
  get size(): number {
    return this.#current.size + this.#previous.size;
  }

  /** The memory of the guard, which is constant. */
  get sizeBytes(): number {
    return this.#current.sizeBytes + this.#previous.sizeBytes;
  }

  /** Reports whether the signature at `at` is new, and remembers it. */
  isFirstUse(bytes: Uint8Array, at: number, nowSeconds: number): boolean {
    const isDue = nowSeconds >= this.#beganSeconds + this.#generationSeconds;
    if (isDue) this.#rotate(nowSeconds);
    const high = uint32(bytes, at);
    const low = uint32(bytes, at + 4);
    if (this.#current.has(high, low) || this.#previous.has(high, low)) return false;
    if (this.#current.size >= this.#capacity) {
      if (this.#previous.size > 0) this.forgottenEarly++;
      this.#rotate(nowSeconds);
    }
    this.#current.add(high, low);
    return true;
  }

  #rotate(nowSeconds: number): void {
    const oldest = this.#previous;
    oldest.clear();
    this.#previous = this.#current;
    this.#current = oldest;
    this.#beganSeconds = nowSeconds;
  }
}

function randomUint32(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}

/** A set of 64-bit numbers, with open addressing at a load of at most one half. */
class Generation {
  size = 0;

  /**
   * Two words per number. Two zeros are a free slot, so a signature that begins with 64 zero bits is not recognized.
   */
  readonly #slots: Uint32Array;
  readonly #mask: number;
  readonly #shift: number;
  /** Random and odd. With known factors, the owner of a key could create signatures that collide on one slot. */
  readonly #highFactor = randomUint32() | 1;
  readonly #lowFactor = randomUint32() | 1;

  constructor(capacity: number) {
    const slotBits = Math.ceil(Math.log2(2 * capacity));
    this.#slots = new Uint32Array(2 * 2 ** slotBits);
    this.#mask = 2 ** slotBits - 1;
    this.#shift = 32 - slotBits;
  }

  get sizeBytes(): number {
    return this.#slots.byteLength;
  }

  has(high: number, low: number): boolean {
    const slot = this.#slotOf(high, low);
    return this.#slots[slot] !== 0 || this.#slots[slot + 1] !== 0;
  }

  add(high: number, low: number): void {
    const slot = this.#slotOf(high, low);
    this.#slots[slot] = high;
    this.#slots[slot + 1] = low;
    this.size++;
  }

  clear(): void {
    this.#slots.fill(0);
    this.size = 0;
  }

  /** Returns the slot of the number, or the free slot where it belongs. One exists, because half of them are free. */
  #slotOf(high: number, low: number): number {
    const mixed = Math.imul(high, this.#highFactor) + Math.imul(low, this.#lowFactor);
    for (let slot = mixed >>> this.#shift; ; slot = (slot + 1) & this.#mask) {
      const foundHigh = this.#slots[2 * slot];
      const foundLow = this.#slots[2 * slot + 1];
      if (foundHigh === high && foundLow === low) return 2 * slot;
      if (foundHigh === 0 && foundLow === 0) return 2 * slot;
    }
  }
}
