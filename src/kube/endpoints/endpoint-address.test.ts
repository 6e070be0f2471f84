import { expect, test } from 'bun:test';
import { canonicalAddress, endpointAddressFault, familyOf } from './endpoint-address.ts';

test.each(['10.0.0.5', '100.64.64.1', '192.0.0.8', '240.0.0.1', 'fd00::1', '2001:db8::10', '::2'])(
  'accepts %s as an endpoint',
  (address) => {
    expect(endpointAddressFault(address)).toBeUndefined();
  },
);

test.each([
  ['0.0.0.0', 'the unspecified address'],
  ['::', 'the unspecified address'],
  ['127.0.0.1', 'a loopback address'],
  ['127.8.9.10', 'a loopback address'],
  ['::1', 'a loopback address'],
  ['169.254.1.1', 'a link-local address'],
  ['fe80::1', 'a link-local address'],
  ['febf::1', 'a link-local address'],
  ['224.0.0.1', 'a multicast address'],
  ['239.1.2.3', 'a multicast address'],
  ['ff02::1', 'a multicast address'],
  ['::ffff:10.0.0.1', 'an IPv4 address written as IPv6'],
  ['edge.example.com', 'no IP address'],
  ['', 'no IP address'],
])('rejects %p: it is %s', (address, fault) => {
  expect(endpointAddressFault(address)).toBe(fault);
});

test('writes IPv6 addresses in canonical form, and does not change IPv4 addresses', () => {
  expect(canonicalAddress('FD00:0:0::0001')).toBe('fd00::1');
  expect(canonicalAddress('fd00::1')).toBe('fd00::1');
  expect(canonicalAddress('10.0.0.5')).toBe('10.0.0.5');
});

test('returns the family of an address', () => {
  expect(['10.0.0.5', 'fd00::1', 'edge'].map(familyOf)).toEqual(['IPv4', 'IPv6', undefined]);
});
