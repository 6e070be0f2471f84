/**
 * Recognises a signed header that was used before, in fixed memory.
 *
 * It remembers signatures, not nonces: a tenant cannot make another tenant's signature, so it cannot use one up in its
 * place. Of the 32 bytes, 8 are kept; that two differ only in the others is a matter of 2^64.
 *
 * **When it is full** it forgets the older half early and counts that, rather than refuse. Nobody can tell then whether
 * a header is new; refusing them all would let one tenant, whose proxies alone can fill the guard, cut off the others.
 * What a replay gains is a connection to the tenant's API server, inside which TLS is still to be done, and which the
 * edge offers to everybody by SNI.
 *
 * One guard sees the headers of one thread. A replay that lands on another thread or replica is not recognised there.
 */
import { uint32 } from './bytes.ts';

/** Options of {@link ReplayGuard}. */
export interface ReplayGuardOptions {
  /** The window that headers are verified with. */
  readonly windowSeconds: number;
  /** The headers that are remembered in any case; up to twice as many if they come in time. Default 65,536: 2 MiB. */
  readonly capacity?: number;
}

/** Two generations of signatures, of which the older is dropped when nothing in it can be valid any more. */
export class ReplayGuard {
  /** How often it was full and forgot a generation that could still have been replayed. A metric. */
  forgottenEarly = 0;

  /**
   * A header may be signed up to a window in the future, and is then valid until a window after that: it has to be
   * remembered for two, the last second included.
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

  /** How many signatures it holds: never more than twice its capacity. */
  get size(): number {
    return this.#current.size + this.#previous.size;
  }

  /** What it takes, full or empty. */
  get sizeBytes(): number {
    return this.#current.sizeBytes + this.#previous.sizeBytes;
  }

  /** Whether the signature at `at` is new; from now on it is not. */
  isFirstUse(bytes: Uint8Array, at: number, nowSeconds: number): boolean {
    const isDue = nowSeconds >= this.#beganSeconds + this.#generationSeconds;
    if (isDue) this.#turn(nowSeconds);
    const high = uint32(bytes, at);
    const low = uint32(bytes, at + 4);
    if (this.#current.has(high, low) || this.#previous.has(high, low)) return false;
    if (this.#current.size >= this.#capacity) {
      if (this.#previous.size > 0) this.forgottenEarly++;
      this.#turn(nowSeconds);
    }
    this.#current.add(high, low);
    return true;
  }

  #turn(nowSeconds: number): void {
    const emptied = this.#previous;
    emptied.clear();
    this.#previous = this.#current;
    this.#current = emptied;
    this.#beganSeconds = nowSeconds;
  }
}

function randomUint32(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}

/** A set of 64-bit numbers: open addressing at a load of at most one half. */
class Generation {
  size = 0;

  /** Two words each; both 0 is a free slot, so a signature that begins with 64 zero bits would not be recognised. */
  readonly #slots: Uint32Array;
  readonly #mask: number;
  readonly #shift: number;
  /** Random and odd: who holds a key could make signatures that fall on one slot, if it knew where they fall. */
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

  /** Where the number is, or the free slot where it belongs. There is one: half of them are. */
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
