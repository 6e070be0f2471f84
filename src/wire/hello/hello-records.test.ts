import { describe, expect, test } from 'bun:test';
import { ClientHello } from './client-hello.ts';
import { exampleHello, handshake, helloMessage, inRecords, record } from './hello-builder.ts';

function read(bytes: Buffer, reader = new ClientHello()) {
  return reader.read(bytes, bytes.length);
}

describe('records', () => {
  const message = helloMessage({ serverName: 'a.example' });

  test.each([
    ['GET / HTTP/1.1\r\n', 'not_tls'],
    ['G', 'not_tls'],
    ['\x15\x03\x03\0\x02\x02\x28', 'not_tls'],
    ['\x16\x02\0\0\x05', 'not_tls'],
    ['\x80\x2e\x01\x03\x01', 'sslv2_hello'],
    ['\x80\x2e\x01\0\x02', 'sslv2_hello'],
    ['\x80\x2e\x01\0', 'incomplete'],
    ['\x80\x2e\x02\x03\x01', 'not_tls'],
    ['\x80\x2e\x01\x04\x01', 'not_tls'],
    ['\x16\x03\x01\0\0', 'record_empty'],
    ['\x16\x03\x01\x40\x01', 'record_too_long'],
    ['\x16\x03\x01\0\x04\x02', 'not_client_hello'],
    ['', 'incomplete'],
  ] as const)('that begin with %p: %s', (text, code) => {
    expect(read(Buffer.from(text, 'latin1'))).toBe(code);
  });

  test.each([
    ['an alert', record(Buffer.from([1, 0]), 21), 'record_type_changed'],
    ['application data', record(message, 23, 0x0303), 'record_type_changed'],
    ['version 2.1', record(message.subarray(9), 22, 0x0201), 'record_version_invalid'],
    ['an empty record', record(Buffer.alloc(0)), 'record_empty'],
    ['a record of 2^14 + 1 bytes', record(Buffer.alloc(0x4001)), 'record_too_long'],
    [
      'one byte too many',
      record(Buffer.concat([message.subarray(9), Buffer.alloc(1)])),
      'record_overruns_hello',
    ],
  ] as const)('followed by %s are refused', (_, next, code) => {
    const bytes = Buffer.concat([record(message.subarray(0, 9)), next]);

    expect(read(bytes)).toBe(code);
  });

  test('must not contain bytes after the hello', () => {
    const bytes = record(Buffer.concat([message, handshake(11, Buffer.alloc(3))]));

    expect(read(bytes)).toBe('record_overruns_hello');
    expect(read(bytes.subarray(0, 9))).toBe('record_overruns_hello');
  });

  test('of any minor version are accepted', () => {
    for (const version of [0x0300, 0x0301, 0x0303, 0x0304]) {
      expect(read(record(message, 22, version))).toBe('hello');
    }
  });
});

describe('the limit', () => {
  const bytes = exampleHello();
  const exact = () => new ClientHello({ limitBytes: bytes.length });
  const tooSmall = () => new ClientHello({ limitBytes: bytes.length - 1 });

  test('accepts a hello of exactly the maximum length', () => {
    expect(read(bytes, exact())).toBe('hello');
  });

  test('refuses a longer hello by its length field, before its bytes arrive', () => {
    expect(read(bytes, tooSmall())).toBe('hello_too_long');
    expect(read(bytes.subarray(0, 5), tooSmall())).toBe('hello_too_long');
    const long = Buffer.concat([record(Buffer.from([1, 1, 0, 0])), record(Buffer.alloc(9))]);
    expect(read(long.subarray(0, 9))).toBe('hello_too_long');
  });

  test('includes the record headers, so that a full buffer always leads to a decision', () => {
    const split = inRecords(bytes.subarray(5), [1]);
    const limitBytes = split.length - 1;

    expect(read(split, new ClientHello({ limitBytes: split.length }))).toBe('hello');
    const reader = new ClientHello({ limitBytes });
    expect(reader.read(split, limitBytes)).toBe('hello_too_long');
  });
});
