import { expect, test } from 'bun:test';
import { reachesListener } from './local-address.ts';

const LOCAL = ['127.0.0.1', '192.0.2.7', '::1', '2001:db8::7'];

test.each([
  ['0.0.0.0', '192.0.2.7', true],
  ['0.0.0.0', '127.0.0.1', true],
  ['0.0.0.0', '127.9.9.9', true],
  ['0.0.0.0', '192.0.2.8', false],
  ['0.0.0.0', '::1', false],
  ['::', '::1', true],
  ['0::0', '2001:db8::7', true],
  ['0:0:0:0:0:0:0:0', '2001:DB8:0::7', true],
  ['::', '2001:db8::8', false],
  ['::', '192.0.2.7', false],
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '127.0.0.1', false],
  ['2001:db8::7', '2001:db8:0::7', true],
])('listener on %s, dialed address %s: %p', (listens, dialed, isReached) => {
  const listeners = [{ address: listens, port: 443 }];

  expect(reachesListener(listeners, { address: dialed, port: 443 }, LOCAL)).toBe(isReached);
  expect(reachesListener(listeners, { address: dialed, port: 444 }, LOCAL)).toBeFalse();
});

test('reads the addresses of the machine by default', () => {
  const everywhere = [{ address: '::', port: 443 }];

  expect(reachesListener(everywhere, { address: '2001:db8::7', port: 443 })).toBeFalse();
});
