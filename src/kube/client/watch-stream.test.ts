import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isKubeError } from '../kube-error.ts';
import type { ByteStream } from '../transport/stream.ts';
import { LineSplitter, watchEvents } from './watch-stream.ts';

const CALL = { verb: 'GET', path: '/api/v1/pods', server: 'https://10.0.0.1' };
const LINE_BYTES = 1024 * 1024;
const bytes = (text: string) => new TextEncoder().encode(text);

/** Splits the bytes at these positions. */
function cut(all: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (all.length + 1)), all.length];
  const sorted = [...new Set(ends)].toSorted((a, b) => a - b);
  return sorted.map((end, index) => all.slice(sorted[index - 1] ?? 0, end));
}

class FixedStream implements ByteStream {
  readonly #chunks: Uint8Array[];
  isClosed = false;

  constructor(...chunks: readonly Uint8Array[]) {
    this.#chunks = [...chunks];
  }

  async read(): Promise<Uint8Array | undefined> {
    return this.#chunks.shift();
  }

  close(): void {
    this.isClosed = true;
  }
}

async function collect(stream: ByteStream) {
  return Array.fromAsync(watchEvents(async () => stream, CALL, { lineBytes: LINE_BYTES }));
}

function added(name: string): string {
  return `${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`;
}

describe('lines', () => {
  test('do not depend on how the bytes are split, even within a character', () => {
    const line = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' '));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (lines, places) => {
        const all = bytes(lines.map((text) => `${text}\n`).join(''));
        const splitter = new LineSplitter(LINE_BYTES);

        const found = cut(all, places).flatMap((chunk) => splitter.push(chunk));

        // Invalid text, such as half of a surrogate pair, becomes well-formed after a round trip.
        expect(found).toEqual(lines.map((text) => text.toWellFormed()));
        expect(splitter.isWithinLine).toBe(false);
      }),
    );
  });

  test('are limited in size, even before their end has arrived', () => {
    const unfinished = new LineSplitter(10);
    unfinished.push(bytes('123456'));

    expect(() => unfinished.push(bytes('789ab'))).toThrow('exceeds 10 bytes');
    expect(() => new LineSplitter(10).push(bytes('123456789ab\n'))).toThrow('exceeds 10 bytes');
  });

  test('do not retain the chunk in which they start', () => {
    const splitter = new LineSplitter(LINE_BYTES);
    const chunk = bytes(`${'x'.repeat(100)}\nbegin`);
    splitter.push(chunk);

    chunk.fill(0);

    expect(splitter.push(bytes(' end\n'))).toEqual(['begin end']);
  });
});

describe('events', () => {
  test('are yielded one by one, and bookmarks only with their version', async () => {
    const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '7' } } };
    const stream = new FixedStream(bytes(`${added('a')}\n${JSON.stringify(bookmark)}\n`));

    expect(await collect(stream)).toEqual([
      { type: 'ADDED', object: { metadata: { name: 'a' } } },
      { type: 'BOOKMARK', resourceVersion: '7' },
    ] as never);
    expect(stream.isClosed).toBe(true);
  });

  test.each([
    ['Expired', { code: 410, reason: 'Expired', message: 'too old resource version: 1 (5)' }],
    ['ServerError', { code: 500, reason: 'InternalError', message: 'etcd is away' }],
  ])('of type ERROR are %s', async (reason, status) => {
    const event = { type: 'ERROR', object: { kind: 'Status', ...status } };
    const stream = new FixedStream(bytes(`${JSON.stringify(event)}\n`));

    const error = await collect(stream).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ reason, status: status.code });
    expect(String(error)).toContain(status.message);
    expect(stream.isClosed).toBe(true);
  });

  test.each([
    ['not JSON', 'hunter2\n'],
    ['not an object', '"hunter2"\n'],
    ['of an unknown type', '{"type":"MOVED","object":{"metadata":{"name":"hunter2"}}}\n'],
    ['without an object', '{"type":"ADDED","hunter2":1}\n'],
    ['a bookmark without a version', '{"type":"BOOKMARK","object":null}\n'],
  ])('that are %s end the watch', async (_, line) => {
    const stream = new FixedStream(bytes(line));

    const error = await collect(stream).catch((thrown: unknown) => thrown);

    expect(isKubeError(error, 'Malformed')).toBe(true);
    expect(String(error)).not.toContain('hunter2');
    expect(stream.isClosed).toBe(true);
  });

  test('that break off half way are an error', async () => {
    const stream = new FixedStream(bytes(`${added('a')}{"type":"ADD`));

    await expect(collect(stream)).rejects.toMatchObject({ reason: 'Unreachable' });
  });

  test('release the stream when the consumer stops', async () => {
    const stream = new FixedStream(bytes(added('a') + added('b')));

    for await (const _ of watchEvents(async () => stream, CALL, { lineBytes: LINE_BYTES })) break;

    expect(stream.isClosed).toBe(true);
  });
});
