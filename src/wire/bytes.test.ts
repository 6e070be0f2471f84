import { expect, test } from 'bun:test';
import { crc32c, putUint16, putUint32, putUint64, uint16, uint32, uint64 } from './bytes.ts';

test('reads and writes numbers with the most significant byte first', () => {
  const bytes = new Uint8Array(14);
  const end = putUint64(
    bytes,
    putUint32(bytes, putUint16(bytes, 0, 0xfffe), 0x80000001),
    2 ** 52 + 1,
  );

  expect(end).toBe(14);
  expect(Buffer.from(bytes).toString('hex')).toBe('fffe800000010010000000000001');
  expect(uint16(bytes, 0)).toBe(0xfffe);
  expect(uint32(bytes, 2)).toBe(0x80000001);
  expect(uint64(bytes, 6)).toBe(2 ** 52 + 1);
});

test('reads zeros outside of the buffer', () => {
  expect(uint32(new Uint8Array(0), 7)).toBe(0);
});

test('computes CRC32c as in RFC 3720 appendix B.4', () => {
  const digits = Buffer.from('123456789');

  expect(crc32c(digits, 0, digits.length)).toBe(0xe3069283);
  expect(crc32c(new Uint8Array(32), 0, 32)).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(32).fill(0xff), 0, 32)).toBe(0x62a8ab43);
});

test('treats the bytes of the checksum itself as zero', () => {
  const bytes = new Uint8Array(32);
  putUint32(bytes, 9, 0xdeadbeef);

  expect(crc32c(bytes, 0, 32, 9)).toBe(0x8a9136aa);
});
