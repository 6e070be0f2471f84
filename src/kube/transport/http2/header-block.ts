/**
 * Header blocks (HPACK, RFC 7541), as far as an API client needs them. Every header is sent as a literal. The settings
 * of the client disable the dynamic table, so that each block can be read independently. Of a response, only `:status`
 * and `retry-after` are read, whose values are numbers.
 */
import { ProtocolError } from '../connection-error.ts';

/** The headers of a response that are read. */
interface ResponseHead {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
}

/** Status entries of the static table, by index. */
const STATUSES: Readonly<Record<number, number>> = {
  8: 200,
  9: 204,
  10: 206,
  11: 304,
  12: 400,
  13: 404,
  14: 500,
};
const RETRY_AFTER = 53;
const STATIC_ENTRIES = 61;
/** The maximum encoded length of a number. */
const MAX_DIGITS_BYTES = 16;

/** Static table indexes of the names in every request. */
const NAME_INDEX: Readonly<Record<string, number>> = {
  ':authority': 1,
  ':method': 2,
  ':path': 4,
  ':scheme': 6,
};

/** Encodes headers. Credentials are never added to a table of the server. */
export function encodeHeaders(headers: readonly (readonly [string, string])[]): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of headers) {
    const index = NAME_INDEX[name];
    // 0001xxxx: a literal that is never indexed
    parts.push(integer(index ?? 0, 4, 0x10));
    if (index === undefined) parts.push(text(name.toLowerCase()));
    parts.push(text(value));
  }
  return Buffer.concat(parts);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([integer(bytes.length, 7, 0), bytes]);
}

/** Encodes an integer (RFC 7541, section 5.1). */
function integer(value: number, prefixBits: number, flags: number): Buffer {
  const max = 2 ** prefixBits - 1;
  if (value < max) return Buffer.from([flags | value]);
  const bytes = [flags | max];
  let rest = value - max;
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

/** Decodes the headers or trailers of a response. @throws ProtocolError */
export function decodeHead(block: Buffer): ResponseHead {
  const reader = new BlockReader(block);
  let status: number | undefined;
  let retryAfter: string | undefined;
  while (!reader.isAtEnd) {
    const first = reader.peek();
    if ((first & 0x80) !== 0) {
      const index = known(reader.integer(7));
      status ??= STATUSES[index];
    } else if ((first & 0xe0) === 0x20) {
      if (reader.integer(5) !== 0) throw new ProtocolError('the server uses a dynamic table');
    } else {
      const index = known(reader.integer((first & 0xc0) === 0x40 ? 6 : 4));
      if (index === 0) reader.skip();
      if (index in STATUSES) {
        const text = reader.digits();
        status ??= Number(text);
      } else if (index === RETRY_AFTER) {
        const text = reader.digits();
        retryAfter ??= text;
      } else reader.skip();
    }
  }
  if (status !== undefined && !(Number.isInteger(status) && status >= 100 && status <= 999)) {
    throw new ProtocolError('a response has no status');
  }
  return { status, retryAfter };
}

function known(index: number): number {
  if (index > STATIC_ENTRIES) throw new ProtocolError(`a reference to unknown header ${index}`);
  return index;
}

class BlockReader {
  readonly #block: Buffer;
  #at = 0;
  /** The length of the last string. */
  #skipped = 0;

  constructor(block: Buffer) {
    this.#block = block;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#block.length;
  }

  peek(): number {
    return this.#block[this.#at] ?? 0;
  }

  integer(prefixBits: number): number {
    const max = 2 ** prefixBits - 1;
    let value = this.#byte() & max;
    if (value < max) return value;
    for (let shift = 0; ; shift += 7) {
      if (shift > 21) throw new ProtocolError('a number in a header block is too large');
      const byte = this.#byte();
      value += (byte & 127) << shift;
      if ((byte & 128) === 0) return value;
    }
  }

  /**
   * Reads a string of digits. Returns an empty string if it is too long for a number, or compressed with other
   * characters.
   */
  digits(): string {
    const isCompressed = (this.peek() & 0x80) !== 0;
    const end = this.skip();
    if (this.#skipped > MAX_DIGITS_BYTES) return '';
    const bytes = this.#block.subarray(end - this.#skipped, end);
    return isCompressed ? digitsIn(bytes) : bytes.toString('latin1');
  }

  /** Skips a string. Returns where it ends. */
  skip(): number {
    this.#skipped = this.integer(7);
    this.#at += this.#skipped;
    if (this.#at > this.#block.length) throw new ProtocolError('a header block is truncated');
    return this.#at;
  }

  #byte(): number {
    const byte = this.#block[this.#at++];
    if (byte === undefined) throw new ProtocolError('a header block is truncated');
    return byte;
  }
}

/**
 * Decodes digits with the Huffman code of RFC 7541, appendix B: 00000 to 00010 are 0 to 2, and 011001 to 011111 are 3
 * to 9. Returns an empty string if there are other characters.
 */
function digitsIn(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  let digits = '';
  for (let at = 0; at < bits.length;) {
    const five = Number.parseInt(bits.slice(at, at + 5), 2);
    const six = Number.parseInt(bits.slice(at, at + 6), 2);
    if (bits.length - at >= 5 && five <= 2) {
      digits += five;
      at += 5;
    } else if (bits.length - at >= 6 && six >= 25 && six <= 31) {
      digits += six - 22;
      at += 6;
    } else if (bits.length - at < 8 && /^1*$/.test(bits.slice(at))) break;
    else return '';
  }
  return digits;
}
