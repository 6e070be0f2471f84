import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { addressPair, formatAddress, parseAddress } from './address-pair.ts';

function hex(text: string) {
  return Buffer.from(parseAddress(text)).toString('hex');
}

test.each([
  ['10.96.0.1', '0a600001'],
  ['::', '00000000000000000000000000000000'],
  ['::1', '00000000000000000000000000000001'],
  ['2001:db8::7', '20010db8000000000000000000000007'],
  ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ['fe80::1%eth0', 'fe800000000000000000000000000001'],
  ['64:ff9b::10.0.0.1', '0064ff9b00000000000000000a000001'],
  ['::ffff:10.0.0.1', '0a000001'],
])('parses %s', (text, bytes) => {
  expect(hex(text)).toBe(bytes);
});

test.each(['', 'localhost', '10.0.0', '1::2::3', '10.0.0.1:80'])('rejects %p', (text) => {
  expect(() => parseAddress(text)).toThrow(`'${text}' is not an IP address`);
});

test.each([
  '::',
  '::1',
  '1::',
  '2001:db8::7',
  '1:2:3:4:5:6:7:8',
  '1:0:3:4:5:6:7:8',
  '1::4:0:0:0:8',
])('round-trips %s in the form of RFC 5952', (text) => {
  const written = formatAddress(parseAddress(text), 0, 'ipv6');

  expect(parseAddress(written)).toEqual(parseAddress(text));
});

test('shortens the longest run of zero groups, the first if equal, but no single group', () => {
  const written = (text: string) => formatAddress(parseAddress(text), 0, 'ipv6');

  expect(written('1:0:0:4:0:0:0:8')).toBe('1:0:0:4::8');
  expect(written('1:0:0:4:5:0:0:8')).toBe('1::4:5:0:0:8');
  expect(written('1:0:3:4:5:6:7:8')).toBe('1:0:3:4:5:6:7:8');
});

test('round-trips any address', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      expect(parseAddress(formatAddress(bytes, 0, 'ipv6'))).toEqual(bytes);
      expect(parseAddress(formatAddress(bytes, 0, 'ipv4'))).toEqual(bytes.slice(0, 4));
    }),
  );
});

test('converts a pair of IPv4-mapped addresses to IPv4', () => {
  const pair = addressPair('::ffff:10.1.2.3', 40000, '::ffff:10.96.0.1', 443);

  expect(pair).toEqual({
    family: 'ipv4',
    source: Uint8Array.of(10, 1, 2, 3),
    sourcePort: 40000,
    destination: Uint8Array.of(10, 96, 0, 1),
    destinationPort: 443,
  });
});

test('converts a pair of different families to IPv6', () => {
  const pair = addressPair('2001:db8::7', 1, '10.96.0.1', 2);

  expect(pair.family).toBe('ipv6');
  expect(Buffer.from(pair.destination).toString('hex')).toBe('00000000000000000000ffff0a600001');
});
