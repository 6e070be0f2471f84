import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ResponseDecoder } from './response-decoder.ts';

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const bytes = (text: string) => Buffer.from(text, 'latin1');

/** Decodes these pieces. */
function decode(...pieces: readonly Uint8Array[]) {
  const decoder = new ResponseDecoder();
  const body = Buffer.concat(pieces.flatMap((piece) => decoder.push(piece)));
  return { decoder, body: body.toString('latin1') };
}

/** Splits the bytes at these positions. */
function splitAt(response: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (response.length + 1)), response.length];
  const sorted = [...new Set(ends)].toSorted((a, b) => a - b);
  return sorted.map((end, index) => response.subarray(sorted[index - 1] ?? 0, end));
}

describe('a response', () => {
  test('in chunks is decoded the same however its bytes are split', () => {
    const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }));
    fc.assert(
      fc.property(chunks, fc.array(fc.nat()), (parts, places) => {
        const framed = parts.map((part) =>
          Buffer.concat([bytes(`${part.length.toString(16)};x=y\r\n`), part, bytes('\r\n')]),
        );
        const response = Buffer.concat([
          bytes(CHUNKED),
          ...framed,
          bytes('0\r\nTrailer: a\r\n\r\n'),
        ]);

        const { decoder, body } = decode(...splitAt(response, places));

        expect(body).toBe(Buffer.concat(parts).toString('latin1'));
        expect(decoder.isDone).toBe(true);
      }),
    );
  });

  test('with a Content-Length is complete after that many bytes', () => {
    const head = 'HTTP/1.1 429 Too Many Requests\r\nRETRY-AFTER:  7 \r\ncontent-length: 5\r\n\r\n';

    const { decoder, body } = decode(bytes(`${head}hel`), bytes('lo'));

    expect(decoder.head).toEqual({ status: 429, retryAfter: '7' });
    expect(body).toBe('hello');
    expect(decoder.isDone).toBe(true);
  });

  test('without a Content-Length ends with its connection', () => {
    const { decoder, body } = decode(bytes('HTTP/1.0 200\r\n\r\nhel'), bytes('lo'));

    expect(body).toBe('hello');
    expect([decoder.isDone, decoder.endsWithConnection]).toEqual([false, true]);
  });

  test('may follow informational heads', () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n';

    const { decoder, body } = decode(
      bytes(`${early}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`),
    );

    expect(decoder.head?.status).toBe(200);
    expect(body).toBe('ok');
  });

  test('is incomplete until its whole head has arrived', () => {
    const { decoder } = decode(bytes('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n'));

    expect(decoder.head).toBeUndefined();
  });
});

describe('a decoder of invalid responses', () => {
  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['a head without an end', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}`],
    ['a line that is not a header', 'HTTP/1.1 200 OK\r\nhello\r\n\r\n'],
    ['a transfer coding other than chunked', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n'],
    ['an invalid length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['a chunk without a size', `${CHUNKED}hello\r\n`],
    ['a chunk whose size exceeds the safe integers', `${CHUNKED}fffffffffffffff\r\n`],
    ['a chunk that does not end', `${CHUNKED}2\r\nhello\r\n`],
    ['a body longer than its Content-Length', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhello'],
  ])('%s', (_, text) => {
    expect(() => decode(bytes(text))).toThrow();
  });

  test('throws InvalidResponse and no other error, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), fc.boolean(), (pieces, hasHead) => {
        const decoder = new ResponseDecoder();
        try {
          if (hasHead) decoder.push(bytes(CHUNKED));
          for (const piece of pieces) decoder.push(piece);
        } catch (error) {
          expect(error).toMatchObject({ name: 'InvalidResponse' });
        }
      }),
    );
  });
});
