import { expect, test } from 'bun:test';
import { ownAddresses, placesReached } from './own-places.ts';

const OWN = ['127.0.0.1', '192.0.2.7', '::1', '2001:db8::7'];

test('a wildcard is every address of its family', () => {
  const wildcards = [
    { address: '0.0.0.0', port: 443 },
    { address: '::', port: 8443 },
  ];

  expect(placesReached(wildcards, OWN)).toEqual([
    { address: '127.0.0.1', port: 443 },
    { address: '192.0.2.7', port: 443 },
    { address: '::1', port: 8443 },
    { address: '2001:db8::7', port: 8443 },
  ]);
});

test('any other address is itself', () => {
  const listens = [{ address: '192.0.2.7', port: 443 }];

  expect(placesReached(listens, OWN)).toEqual(listens);
});

test('a machine has a loopback address', () => {
  expect(ownAddresses()).toContain('127.0.0.1');
});
