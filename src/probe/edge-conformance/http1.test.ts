import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { VERSION_RESPONSE } from '../testing/responses.ts';
import { firstResponse, versionRequest } from './http1.ts';

const CHUNKED =
  'HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nno\r\n0\r\n\r\n';

test.each([
  [VERSION_RESPONSE, { status: 200, closes: false }],
  [CHUNKED, { status: 403, closes: true }],
])('finds the end of a response, with and without bytes after it: %#', (text, expected) => {
  const bytes = Buffer.from(text);

  for (let end = 0; end < bytes.length; end++) {
    expect(firstResponse(bytes.subarray(0, end))).toBeUndefined();
  }
  const response = { ...expected, bytes: bytes.length };
  expect(firstResponse(bytes)).toEqual(response);
  expect(firstResponse(Buffer.concat([bytes, bytes]))).toEqual(response);
});

test.each([
  'SSH-2.0-OpenSSH_9.2\r\n',
  'HTTP/1.1 fine\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  ...['', '-1', '+2', '0x2', '2e0', '2.0', '2, 2'].map(
    (length) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\nno`,
  ),
])('rejects %j as an HTTP/1 response', (text) => {
  expect(firstResponse(Buffer.from(text))).toBe('notHttp');
});

test('does not throw on random bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
      const bytes = Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n'), noise]);

      expect(() => firstResponse(bytes)).not.toThrow();
    }),
  );
});

test('writes a request without credentials', () => {
  expect(versionRequest('a.example.com', { close: true })).toBe(
    'GET /version HTTP/1.1\r\nHost: a.example.com\r\nUser-Agent: snicket-doctor\r\nConnection: close\r\n\r\n',
  );
});
