import { expect, test } from 'bun:test';
import { readAddress, readPort, writeAddress } from './socket-address.ts';

test.each([
  ['127.0.0.1', 16],
  ['255.0.10.1', 16],
  ['::', 28],
  ['::1', 28],
  ['fd00::5', 28],
  ['fd00::', 28],
  ['1:2:3:4:5:6:7:8', 28],
  ['1:0:3:4:5:6:7:8', 28],
  ['1:0:0:4:0:0:0:8', 28],
  ['1::4:0:0:8:9', 28],
])('round-trips %s', (text, length) => {
  const memory = Buffer.alloc(64, 0xff);

  expect(writeAddress(memory, 8, text, 6443)).toBe(length);

  const canonical = text === '1:0:0:4:0:0:0:8' ? '1:0:0:4::8' : text;
  expect(readAddress(memory, 8)).toBe(canonical);
  expect(readPort(memory, 8)).toBe(6443);
});

test('reads an address that was never written as empty', () => {
  expect(readAddress(Buffer.alloc(28), 0)).toBe('');
});

test('rejects a host name', () => {
  expect(() => writeAddress(Buffer.alloc(28), 0, 'localhost', 1)).toThrow("'localhost'");
});
