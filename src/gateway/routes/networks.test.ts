import { expect, test } from 'bun:test';
import { NetworkSet, parseNetworks } from './networks.ts';

test('matches addresses of both families', () => {
  const sources = new NetworkSet(parseNetworks('10.0.0.0/8, 192.0.2.7,fd00::/8'));

  for (const inside of ['10.255.0.1', '192.0.2.7', 'fd00::1', '10.255.0.1']) {
    expect(sources.has(inside)).toBeTrue();
  }
  for (const outside of ['11.0.0.1', '192.0.2.8', 'fe80::1', '::1', '11.0.0.1']) {
    expect(sources.has(outside)).toBeFalse();
  }
});

test('matches every address of a family with prefix 0', () => {
  const sources = new NetworkSet(parseNetworks('0.0.0.0/0'));

  expect(sources.has('203.0.113.1')).toBeTrue();
  expect(sources.has('fd00::1')).toBeFalse();
});

test.each([
  ['192.0.2.128/25', '192.0.2.129', '192.0.2.127'],
  ['10.1.2.3/31', '10.1.2.2', '10.1.2.4'],
  ['2001:db8::/33', '2001:db8:7fff::1', '2001:db8:8000::1'],
])('matches %s, whose prefix ends within a byte', (network, inside, outside) => {
  const sources = new NetworkSet([network]);

  expect(sources.has(inside)).toBeTrue();
  expect(sources.has(outside)).toBeFalse();
});

test('answers correctly after more addresses than it caches', () => {
  const sources = new NetworkSet(['10.0.0.0/8']);
  for (let index = 0; index < 5000; index++) sources.has(`11.0.${index >> 8}.${index & 255}`);

  expect(sources.has('10.0.0.1')).toBeTrue();
});

test.each([
  ['', "'' is not an IP network"],
  ['10.0.0.0/33', "'10.0.0.0/33' has no prefix length from 0 to 32"],
  ['10.0.0.0/', 'has no prefix length'],
  ['10.0.0.0/-1', 'has no prefix length'],
  ['fd00::/129', 'from 0 to 128'],
  ['lb.example.com', "'lb.example.com' is not an IP network"],
  ['10.0.0.1/8', 'write 10.0.0.0/8 for the network, or 10.0.0.1 for one address'],
  ['192.0.2.255/25', 'write 192.0.2.128/25'],
  ['fd00::1/8', 'write fd00::/8'],
  ['2001:db8:ffff::/33', 'write 2001:db8:8000::/33'],
  ['::1/0', 'write ::/0'],
  ['::ffff:10.0.0.0/104', 'write 10.0.0.0/8'],
  ['::ffff:10.0.0.1', 'write 10.0.0.1/32'],
  ['::ffff:0:0/96', 'write 0.0.0.0/0'],
  ['10.0.0.0/8,,', "'' is not an IP network"],
])('rejects %p', (text, message) => {
  expect(() => parseNetworks(text)).toThrow(message);
});

test('matches an IPv4-mapped IPv6 address as IPv4', () => {
  expect(new NetworkSet(['203.0.113.0/24']).has('::ffff:203.0.113.5')).toBeTrue();
  expect(new NetworkSet(['203.0.113.0/24']).has('::ffff:203.0.114.5')).toBeFalse();
  expect(new NetworkSet(['::/0']).has('::ffff:203.0.113.5')).toBeFalse();
});
