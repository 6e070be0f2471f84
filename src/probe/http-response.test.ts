import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { MAX_RESPONSE_BYTES, readHttpResponse } from './http-response.ts';
import { httpText, VERSION_RESPONSE } from './testing/responses.ts';

test('a response is complete with its last byte, however it is split', () => {
  const bytes = Buffer.from(VERSION_RESPONSE);
  for (let length = 0; length < bytes.length; length++) {
    expect(readHttpResponse(bytes.subarray(0, length), false)).toBeUndefined();
  }

  const response = readHttpResponse(bytes, false);

  expect(response).toMatchObject({ status: 200 });
  expect(response).toHaveProperty('body', VERSION_RESPONSE.slice(VERSION_RESPONSE.indexOf('{')));
});

test('headers have lower-case names and trimmed values', () => {
  const text = 'HTTP/1.1 204 No Content\r\nAUDIT-Id:  x \r\nEmpty:\r\nContent-Length: 0\r\n\r\n';

  const response = readHttpResponse(Buffer.from(text), false);

  expect(response).toHaveProperty(
    'headers',
    new Map([
      ['audit-id', 'x'],
      ['empty', ''],
      ['content-length', '0'],
    ]),
  );
});

test('the length counts bytes and not characters', () => {
  const text = httpText('200 OK', {}, 'Grüße');
  const bytes = Buffer.from(text);

  expect(readHttpResponse(bytes.subarray(0, -1), false)).toBeUndefined();
  expect(readHttpResponse(bytes, false)).toHaveProperty('body', 'Grüße');
});

test('a chunked body ends with the empty chunk', () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

  expect(readHttpResponse(Buffer.from(`${head}2\r\n{}\r\n`), false)).toBeUndefined();
  expect(readHttpResponse(Buffer.from(`${head}2\r\n{}\r\n0\r\n\r\n`), false)).toMatchObject({
    status: 200,
  });
});

test('a body without a length ends with the connection', () => {
  const bytes = Buffer.from('HTTP/1.0 200\r\nServer: x\r\n\r\nhalf');

  expect(readHttpResponse(bytes, false)).toBeUndefined();
  expect(readHttpResponse(bytes, true)).toMatchObject({ status: 200, body: 'half' });
});

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH\r\n', false],
  ['another version', 'HTTP/2 200\r\n\r\n', false],
  ['no status', 'HTTP/1.1 OK\r\n\r\n', false],
  ['half a head', 'HTTP/1.1 200 OK\r\nServer: x', true],
])('%s is not HTTP/1', (_, text, isEnd) => {
  expect(readHttpResponse(Buffer.from(text), isEnd)).toBe('notHttp');
});

test('an endless head is rejected', () => {
  const bytes = Buffer.alloc(MAX_RESPONSE_BYTES, 'x');
  bytes.write('HTTP/1.1 200 OK\r\n');

  expect(readHttpResponse(bytes.subarray(1000), false)).toBe('notHttp');
  expect(readHttpResponse(bytes.subarray(0, 1000), false)).toBeUndefined();
  expect(readHttpResponse(bytes, false)).toBe('notHttp');
});

test('does not throw on random bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (tail, hasStart) => {
      const bytes = Buffer.concat([Buffer.from(hasStart ? 'HTTP/1.1 200 OK\r\n' : ''), tail]);

      expect(readHttpResponse(bytes, true) !== undefined || bytes.length === 0).toBe(true);
    }),
  );
});
