import { expect, test } from 'bun:test';
import { formatListenAddress, parseListenAddress } from './listen-address.ts';

test.each([
  ['10.0.0.1:443', [{ address: '10.0.0.1', port: 443 }]],
  ['[::]:443', [{ address: '::', port: 443 }]],
  ['[fd00::1]:0', [{ address: 'fd00::1', port: 0 }]],
])('reads %s as one address', (text, addresses) => {
  expect(parseListenAddress(text)).toEqual(addresses);
  expect(parseListenAddress(text).map(formatListenAddress)).toEqual([text]);
});

test('reads a port alone as the wildcard addresses of both families', () => {
  expect(parseListenAddress(':443')).toEqual([
    { address: '0.0.0.0', port: 443 },
    { address: '::', port: 443 },
  ]);
});

test.each([
  ['443', "'443' has no port"],
  ['', "'' has no port"],
  ['10.0.0.1', "'10.0.0.1' has no port"],
  ['10.0.0.1:', 'has no port'],
  ['10.0.0.1:65536', 'from 0 to 65535'],
  ['10.0.0.1:-1', 'from 0 to 65535'],
  ['10.0.0.1:1e3', 'from 0 to 65535'],
  ['::1:443', 'write [::1]:443'],
  ['example.com:443', "'example.com' in 'example.com:443' is not an IP address"],
  ['[10.0.0.1]:443', 'is not an IP address'],
  ['*:443', 'is not an IP address'],
])('rejects %p with a fix', (text, message) => {
  expect(() => parseListenAddress(text)).toThrow(message);
});
