import { expect, test } from 'bun:test';
import { parseVirtualAddress } from './virtual-address.ts';

test.each([
  ['100.64.64.1', '100.64.64.1'],
  ['10.96.0.1', '10.96.0.1'],
  ['240.0.0.1', '240.0.0.1'],
  ['FD00:64:0:0::1', 'fd00:64::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['::2', '::2'],
])('accepts %s', (text, spelling) => {
  expect(parseVirtualAddress(text)).toBe(spelling);
});

test.each([
  ['127.0.0.1', 'a loopback address'],
  ['127.255.255.254', 'a loopback address'],
  ['::1', 'the loopback address'],
  ['169.254.20.10', 'a link-local address'],
  ['fe80::1', 'a link-local address'],
  ['febf::1', 'a link-local address'],
  ['0.0.0.0', 'the unspecified address or one of its network'],
  ['0.1.2.3', 'the unspecified address or one of its network'],
  ['::', 'the unspecified address'],
  ['224.0.0.1', 'a multicast address'],
  ['239.255.0.1', 'a multicast address'],
  ['ff02::1', 'a multicast address'],
  ['255.255.255.255', 'the broadcast address'],
  ['::ffff:10.0.0.1', 'an IPv4-mapped IPv6 address'],
])('rejects %s, which is %s', (text, kind) => {
  expect(() => parseVirtualAddress(text)).toThrow(`'${text}' is ${kind} and cannot be an endpoint`);
});

test.each(['', 'lo', '100.64.64.1/32', '100.64.64', '100.64.064.1', 'fe80::1%eth0'])(
  "rejects '%s', which is not an address",
  (text) => {
    expect(() => parseVirtualAddress(text)).toThrow(
      `'${text}' is not an IP address; write one like 100.64.64.1 or fd00:64::1`,
    );
  },
);
