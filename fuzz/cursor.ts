/**
 * How the slow parsers take bytes: from the front, by copying, and with an exception where there are not enough.
 */

/** The bytes so far may be the beginning of something right. */
export class NeedMore extends Error {}

/** The bytes are refused, with the code of src/wire/outcome.ts. */
export class Refused<Code extends string> extends Error {
  readonly code: Code;

  constructor(code: Code) {
    super(code);
    this.code = code;
  }
}

/** Bytes that are taken one after the other. */
export class Cursor<Code extends string> {
  at = 0;
  readonly #bytes: readonly number[];
  readonly #shortage: () => Error;

  /** `shortage` makes what is thrown when bytes are missing. */
  constructor(bytes: Uint8Array | readonly number[], shortage: () => Error) {
    this.#bytes = Array.from(bytes);
    this.#shortage = shortage;
  }

  /** How many are left. */
  get left(): number {
    return this.#bytes.length - this.at;
  }

  /** The next bytes. */
  take(count: number): number[] {
    if (count > this.left) throw this.#shortage();
    const taken = this.#bytes.slice(this.at, this.at + count);
    this.at += count;
    return taken;
  }

  /** All that are left, without taking them. */
  rest(): number[] {
    return this.#bytes.slice(this.at);
  }

  /** The next bytes as one number, the most significant first. */
  number(count: number): number {
    return this.take(count).reduce((value, byte) => value * 256 + byte, 0);
  }

  /** A length and as many bytes; refused with this code if either is not all there. */
  vector(lengthBytes: number, overrun: Code): number[] {
    if (this.left < lengthBytes) throw new Refused(overrun);
    const length = this.number(lengthBytes);
    if (this.left < length) throw new Refused(overrun);
    return this.take(length);
  }
}
