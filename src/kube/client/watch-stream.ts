/**
 * The events of a watch: JSON, one object to a line, in chunks that begin and end anywhere.
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

/** A line is longer than it may be. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';
}

/** Puts lines together. It is bytes that are split, so a character may well come in two chunks. */
export class LineSplitter {
  readonly #maxBytes: number;
  /** The beginning of a line whose end has not come. */
  readonly #rest = new ByteCollector();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether a line has begun and not ended. */
  get isWithinLine(): boolean {
    return this.#rest.length > 0;
  }

  /** The lines that end in this chunk. @throws LineTooLong */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      lines.push(this.#lineEndingWith(chunk.subarray(start, end)));
      start = end + 1;
    }
    // A copy: a view would keep the whole chunk in memory for as long as the line takes.
    if (start < chunk.length) this.#keep(chunk.slice(start));
    return lines;
  }

  #lineEndingWith(last: Uint8Array): string {
    this.#keep(last);
    return this.#rest.take().toString('utf8');
  }

  #keep(bytes: Uint8Array): void {
    this.#rest.add(bytes);
    if (this.#rest.length > this.#maxBytes) {
      throw new LineTooLong(`a line has more than ${this.#maxBytes} bytes (lineBytes)`);
    }
  }
}

/**
 * The events of a stream that is opened for them, until the server ends it. It is closed when this ends, however it
 * ends.
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
    // While it waits, a generator keeps all that it has named: neither chunk nor line is left with it. Of a thousand tenants
    // with two watches each the lines alone were 7 MB.
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

/** The lines that end in the next chunk; undefined at the end of the stream. @throws KubeError */
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
  const said = typeof type === 'string' ? quoted(type) : typeof type;
  throw malformed(call, `an event of type ${said} that cannot be used`);
}

/** What is looked at of an event before its object is handed on as what the caller says it is. */
interface RawEvent {
  readonly type?: unknown;
  readonly object?: Partial<KubeObject> | null;
}

function parsedEvent(line: string, call: CallName): RawEvent {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    // The parser would quote the text, which may be a Secret.
    throw malformed(call, `an event of ${line.length} characters that is not JSON`);
  }
  if (typeof event === 'object' && event !== null) return event;
  throw malformed(call, 'an event that is no object');
}
