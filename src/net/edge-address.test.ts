import { expect, test } from 'bun:test';
import { parseEdgeAddress } from './edge-address.ts';

test.each([
  ['edge.example.com:443', 'edge.example.com', 443],
  ['203.0.113.10:6443', '203.0.113.10', 6443],
  ['[2001:db8::10]:443', '2001:db8::10', 443],
  ['localhost:1', 'localhost', 1],
])('reads %s', (text, host, port) => {
  expect(parseEdgeAddress(text)).toEqual({ host, port });
});

test.each([
  ['edge.example.com', "'edge.example.com' has no port"],
  ['edge.example.com:0', 'has no port from 1 to 65535'],
  ['edge.example.com:65536', 'has no port from 1 to 65535'],
  ['edge.example.com:https', 'has no port from 1 to 65535'],
  [':443', "'' in ':443' is neither"],
  ['2001:db8::10:443', 'needs brackets; write [2001:db8::10]:443'],
  ['300.0.0.1:443', "'300.0.0.1' in '300.0.0.1:443' is neither"],
  ['https://edge.example.com:443', "'https://edge.example.com' in"],
  ['edge..example.com:443', 'is neither a DNS name nor an IP address'],
])('rejects %s with a fix', (text, message) => {
  expect(() => parseEdgeAddress(text)).toThrow(message);
});
