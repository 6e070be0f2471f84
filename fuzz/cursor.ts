/** A reader for the reference parsers. It copies bytes, and throws if there are not enough. */

/** The bytes so far may be the beginning of valid input. */
export class Incomplete extends Error {}

/** The bytes are refused, with the code of src/wire/outcome.ts. */
export class Refused<Code extends string> extends Error {
  readonly code: Code;

  constructor(code: Code) {
    super(code);
    this.code = code;
  }
}

/** A cursor over bytes. */
export class Cursor<Code extends string> {
  at = 0;
  readonly #bytes: readonly number[];
  readonly #shortage: () => Error;

  /** `shortage` creates the exception for missing bytes. */
  constructor(bytes: Uint8Array | readonly number[], shortage: () => Error) {
    this.#bytes = Array.from(bytes);
    this.#shortage = shortage;
  }

  /** Number of bytes left. */
  get remaining(): number {
    return this.#bytes.length - this.at;
  }

  /** Reads the next bytes. */
  take(count: number): number[] {
    if (count > this.remaining) throw this.#shortage();
    const consumed = this.#bytes.slice(this.at, this.at + count);
    this.at += count;
    return consumed;
  }

  /** Returns the remaining bytes without reading them. */
  rest(): number[] {
    return this.#bytes.slice(this.at);
  }

  /** Reads the next bytes as a number, most significant first. */
  number(count: number): number {
    return this.take(count).reduce((value, byte) => value * 256 + byte, 0);
  }

  /** Reads a length and this many bytes. Refuses with this code if there are not enough. */
  vector(lengthBytes: number, overrun: Code): number[] {
    if (this.remaining < lengthBytes) throw new Refused(overrun);
    const length = this.number(lengthBytes);
    if (this.remaining < length) throw new Refused(overrun);
    return this.take(length);
  }
}
