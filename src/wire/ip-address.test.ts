import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { isIP } from 'node:net';
import { formatAddress } from './address-pair.ts';
import { ipBytes, ipVersion } from './ip-address.ts';

test.each(['0.0.0.0', '255.255.255.255', '10.0.0.1'])('%s is IPv4', (text) => {
  expect(ipVersion(text)).toBe(4);
});

test.each([
  '::',
  '::1',
  '1::',
  'fd00::5',
  '1:2:3:4:5:6:7:8',
  '1:2:3:4:5:6:7::',
  '::ffff:10.0.0.1',
  'FE80::A',
  '1:2:3:4:5:6:1.2.3.4',
])('%s is IPv6', (text) => {
  expect(ipVersion(text)).toBe(6);
});

test.each([
  '',
  '1.2.3',
  '1.2.3.4.',
  '1.2.3.4.5',
  '256.1.1.1',
  '01.2.3.4',
  '1.2.3.4 ',
  ':',
  ':::',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1::2::3',
  '12345::',
  '::g',
  '1:2:3:4:5:6:7:8::',
  '::1.2.3',
  '1.2.3.4::',
  '[::1]',
  'fe80::1%eth0',
  ':1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:',
  '::1.2.3.4:5',
])('%p is not an address', (text) => {
  expect(ipVersion(text)).toBe(0);
});

test('agrees with node:net on addresses and near misses', () => {
  const nearly = fc
    .array(
      fc.constantFrom(
        '::',
        ':',
        '.',
        '0',
        '1',
        'ff',
        '255',
        '256',
        'abcd',
        '12345',
        'g',
        '1.2.3.4',
      ),
      { maxLength: 17 },
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(nearly, fc.ipV4(), fc.ipV6()), (text) => {
      expect(ipVersion(text)).toBe(isIP(text) as 0 | 4 | 6);
    }),
    { numRuns: 3000 },
  );
});

test('round-trips the bytes of an address', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      expect(ipBytes(formatAddress(bytes, 0, 'ipv6'))).toEqual(bytes);
      expect(ipBytes(formatAddress(bytes, 0, 'ipv4'))).toEqual(bytes.subarray(0, 4));
    }),
  );
});
