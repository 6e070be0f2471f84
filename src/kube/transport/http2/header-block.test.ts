import { describe, expect, test } from 'bun:test';
import { decodeHead, encodeHeaders } from './header-block.ts';

const block = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('a block of headers', () => {
  test('has its status from the table, and unused headers are skipped', () => {
    // :status 200, then "x: y" as a literal, as in RFC 7541, C.2.
    expect(decodeHead(block('88 00 01 78 01 79'))).toEqual({ status: 200, retryAfter: undefined });
    expect(decodeHead(block('8d')).status).toBe(404);
  });

  test('has its status as text, compressed or not', () => {
    expect(decodeHead(block('08 03 34 30 39')).status).toBe(409);
    // RFC 7541, C.6.1: "302" is 6402.
    expect(decodeHead(block('48 82 64 02')).status).toBe(302);
    // 201: 00010 00000 00001, and one bit of padding.
    expect(decodeHead(block('48 82 10 03')).status).toBe(201);
  });

  test('has the value of retry-after, compressed or not', () => {
    expect(decodeHead(block('8e 0f 26 02 31 35')).retryAfter).toBe('15');
    // 1: 00001, padded with ones.
    expect(decodeHead(block('8e 0f 26 81 0f')).retryAfter).toBe('1');
  });

  test('may begin with an update that removes the dynamic table', () => {
    expect(decodeHead(block('20 88')).status).toBe(200);
  });

  test.each(['be', '3f e1 1f', '08', '00 01 78 05 79', '48 03 78 79 7a', 'ff ff ff ff ff ff'])(
    'is rejected if it is invalid: %s',
    (hex) => {
      expect(() => decodeHead(block(hex))).toThrow();
    },
  );

  test('of a request consists of literals that are never indexed', () => {
    const encoded = encodeHeaders([
      [':path', '/version'],
      ['Authorization', 'Bearer x'],
    ]);

    expect(encoded.toString('latin1')).toBe('\x14\x08/version\x10\rauthorization\x08Bearer x');
  });

  test('of a request may be long', () => {
    const encoded = encodeHeaders([['a', 'b'.repeat(1337)]]);

    // RFC 7541, C.1.2, with a prefix of 7 bits: 127 + 1210.
    expect(encoded.subarray(3, 6)).toEqual(block('7f ba 09'));
    expect(encoded.length).toBe(6 + 1337);
  });

  test('may repeat a header, and the first one counts', () => {
    // retry-after: 17, retry-after: 18. A decoder that did not consume the second value would read it as a header.
    const block = Buffer.from('88 0f 26 02 31 37 0f 26 02 31 38'.replaceAll(' ', ''), 'hex');

    expect(decodeHead(block)).toEqual({ status: 200, retryAfter: '17' });
  });

  test('ignores a number that is too long', () => {
    const value = Buffer.alloc(60_000, 0);
    const length = Buffer.from([0xff, 0xe1, 0xd3, 0x03]); // 127 + 59,873, compressed
    const block = Buffer.concat([Buffer.from([0x88, 0x0f, 0x26]), length, value]);

    expect(decodeHead(block)).toEqual({ status: 200, retryAfter: '' });
  });
});
