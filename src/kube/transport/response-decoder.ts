/**
 * Decodes HTTP/1.1 responses from bytes in pieces of any size (RFC 9112). No sockets.
 */
import { quoted } from '../../text/quote.ts';

/** The head of a response. */
interface ResponseHead {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** The error if the bytes are not a valid response. */
export class InvalidResponse extends Error {
  override readonly name = 'InvalidResponse';
}

/** Limits on the head, and on the size line of a chunk. No server needs more. */
const MAX_HEAD_BYTES = 64 * 1024;
const MAX_SIZE_LINE_BYTES = 1024;
/** At most 12 digits: sixteen or more would exceed the safe integers. */
const CHUNK_SIZE = /^([0-9a-f]{1,12})[ \t]*(;.*)?$/i;
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: |$)/;

/** The part of the response that the next byte belongs to. */
type State = 'head' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer' | 'sized' | 'open' | 'done';

/** Decodes one response: its head, and its body as it arrives. */
export class ResponseDecoder {
  #state: State = 'head';
  /** The received lines of the head. */
  #headLines: string[] = [];
  /** Received bytes of the head, or of the current line outside of the head. */
  #textBytes = 0;
  /** The start of an incomplete line. */
  #text = '';
  /** Remaining bytes of the chunk, or of the whole body. */
  #remainingBytes = 0;
  #head: ResponseHead | undefined;

  /** Absent until the head is complete. */
  get head(): ResponseHead | undefined {
    return this.#head;
  }

  /**
   * Whether the body is complete. Stays false for a body without a length, which is complete when the connection ends.
   */
  get isDone(): boolean {
    return this.#state === 'done';
  }

  /** Whether the body ends with the connection. */
  get endsWithConnection(): boolean {
    return this.#state === 'open';
  }

  /** Returns the parts of the body in these bytes, as views. @throws InvalidResponse */
  push(bytes: Uint8Array): readonly Uint8Array[] {
    const body: Uint8Array[] = [];
    let at = 0;
    while (at < bytes.length) {
      switch (this.#state) {
        case 'chunk':
        case 'sized':
        case 'open': {
          const end =
            this.#state === 'open'
              ? bytes.length
              : Math.min(bytes.length, at + this.#remainingBytes);
          body.push(bytes.subarray(at, end));
          this.#remainingBytes -= end - at;
          at = end;
          if (this.#state !== 'open' && this.#remainingBytes === 0) {
            this.#state = this.#state === 'chunk' ? 'chunk-end' : 'done';
          }
          break;
        }
        case 'head':
        case 'chunk-size':
        case 'chunk-end':
        case 'trailer':
          at = this.#takeText(bytes, at);
          break;
        case 'done':
          throw new InvalidResponse('more bytes than announced');
      }
    }
    return body;
  }

  /** Reads text up to the end of a line, and returns where it ended. */
  #takeText(bytes: Uint8Array, at: number): number {
    const newline = bytes.indexOf(0x0a, at);
    const end = newline < 0 ? bytes.length : newline + 1;
    this.#textBytes += end - at;
    if (this.#textBytes > (this.#state === 'head' ? MAX_HEAD_BYTES : MAX_SIZE_LINE_BYTES)) {
      throw new InvalidResponse('its head is too long');
    }
    this.#text += Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString('latin1');
    if (newline >= 0) {
      const line = this.#text.trimEnd();
      this.#text = '';
      this.#takeLine(line);
    }
    return end;
  }

  #takeLine(line: string): void {
    if (this.#state === 'head') {
      if (line !== '') this.#headLines.push(line);
      else if (this.#headLines.length > 0) this.#headEnded();
      return;
    }
    this.#textBytes = 0;
    if (this.#state === 'chunk-end') {
      if (line !== '') throw new InvalidResponse('a chunk is longer than announced');
      this.#state = 'chunk-size';
    } else if (this.#state === 'trailer') {
      if (line === '') this.#state = 'done';
    } else {
      const size = CHUNK_SIZE.exec(line)?.[1];
      if (size === undefined) throw new InvalidResponse('a chunk has no size');
      this.#remainingBytes = parseInt(size, 16);
      this.#state = this.#remainingBytes === 0 ? 'trailer' : 'chunk';
    }
  }

  #headEnded(): void {
    const [first = '', ...lines] = this.#headLines;
    this.#headLines = [];
    this.#textBytes = 0;
    const status = Number(STATUS_LINE.exec(first)?.[1]);
    if (!(status >= 100)) throw new InvalidResponse('not an HTTP response');
    // 1xx responses are informational: another head follows.
    if (status < 200) return;
    const headers = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        if (colon <= 0) throw new InvalidResponse('a line of its head is not a header');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    // The other headers are not retained, since a response may be read for years.
    this.#head = { status, retryAfter: headers.get('retry-after') };
    this.#frame(headers);
  }

  /** Determines the length of the body (RFC 9112, section 6.3). */
  #frame(headers: ReadonlyMap<string, string>): void {
    const coding = headers.get('transfer-encoding');
    const length = headers.get('content-length');
    if (coding !== undefined) {
      if (coding.toLowerCase() !== 'chunked')
        throw new InvalidResponse(`unsupported transfer coding ${quoted(coding)}`);
      this.#state = 'chunk-size';
    } else if (length !== undefined) {
      if (!/^\d{1,15}$/.test(length)) throw new InvalidResponse(`invalid length ${quoted(length)}`);
      this.#remainingBytes = Number(length);
      this.#state = this.#remainingBytes === 0 ? 'done' : 'sized';
    } else {
      this.#state = 'open';
    }
  }
}
