/**
 * Parses the events of a watch: JSON, one object per line, in chunks of any size.
 */
import { ByteCollector } from '../transport/byte-collector.ts';
import type { ClientLimits } from './client-limits.ts';
import type { WatchEvent } from './client.ts';
import { KubeError } from '../kube-error.ts';
import { isObject } from '../object-read.ts';
import type { KubeObject } from '../object.ts';
import { quoted } from '../../text/quote.ts';
import { errorOfEvent, malformed, nameOf, type CallName } from '../transport/request-error.ts';
import type { ByteStream } from '../transport/stream.ts';

const NEWLINE = 0x0a;

/** The error if a line exceeds the limit. */
class LineTooLong extends Error {
  override readonly name = 'LineTooLong';
}

/** Splits bytes into lines. It works on bytes because a chunk may end within a character. */
export class LineSplitter {
  readonly #maxBytes: number;
  /** The start of an incomplete line. */
  readonly #rest = new ByteCollector();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether there is an incomplete line. */
  get isWithinLine(): boolean {
    return this.#rest.length > 0;
  }

  /** Returns the lines that end in this chunk. @throws LineTooLong */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      lines.push(this.#lineEndingWith(chunk.subarray(start, end)));
      start = end + 1;
    }
    // A copy: a view would keep the whole chunk in memory until the line is complete.
    if (start < chunk.length) this.#append(chunk.slice(start));
    return lines;
  }

  #lineEndingWith(last: Uint8Array): string {
    this.#append(last);
    return this.#rest.take().toString('utf8');
  }

  #append(bytes: Uint8Array): void {
    this.#rest.add(bytes);
    if (this.#rest.length > this.#maxBytes) {
      throw new LineTooLong(`a line exceeds ${this.#maxBytes} bytes (lineBytes)`);
    }
  }
}

/**
 * Opens a stream and yields its events until the server ends it. Closes the stream in every case.
 *
 * @throws KubeError
 */
export async function* watchEvents<T extends KubeObject>(
  open: () => Promise<ByteStream>,
  call: CallName,
  { lineBytes }: Pick<ClientLimits, 'lineBytes'>,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const splitter = new LineSplitter(lineBytes);
  const stream = await open();
  try {
    // While suspended, a generator retains all its variables, so none of them holds a chunk or a line. For a thousand
    // tenants with two watches each, the lines alone took 7 MB.
    for (;;) {
      const lines = await nextLines(stream, splitter, call);
      if (lines === undefined) break;
      for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
        if (line.trim() !== '') yield eventOf<T>(line, call);
      }
    }
    if (splitter.isWithinLine) {
      throw new KubeError('Unreachable', `${nameOf(call)}: broken off in the middle of an event`);
    }
  } finally {
    stream.close();
  }
}

/** Returns the lines that end in the next chunk, or undefined at the end of the stream. @throws KubeError */
async function nextLines(
  stream: ByteStream,
  splitter: LineSplitter,
  call: CallName,
): Promise<string[] | undefined> {
  const chunk = await stream.read();
  if (chunk === undefined) return undefined;
  try {
    return splitter.push(chunk);
  } catch (error) {
    throw malformed(call, error instanceof Error ? error.message : String(error));
  }
}

function eventOf<T extends KubeObject>(line: string, call: CallName): WatchEvent<T> {
  const { type, object } = parsedEvent(line, call);
  if (type === 'ERROR') throw errorOfEvent(call, object);
  if (type === 'BOOKMARK') {
    const { resourceVersion } = object?.metadata ?? {};
    if (typeof resourceVersion === 'string') return { type, resourceVersion };
  } else if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
    if (isObject(object)) return { type, object: object as T };
  }
  const typeText = typeof type === 'string' ? quoted(type) : typeof type;
  throw malformed(call, `an invalid event of type ${typeText}`);
}

/** The fields that are checked before the object is returned as the caller's type. */
interface RawEvent {
  readonly type?: unknown;
  readonly object?: Partial<KubeObject> | null;
}

function parsedEvent(line: string, call: CallName): RawEvent {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    // The parser's error would quote the text, which may be a Secret.
    throw malformed(call, `an event of ${line.length} characters that is not JSON`);
  }
  if (typeof event === 'object' && event !== null) return event;
  throw malformed(call, 'an event that is not an object');
}
