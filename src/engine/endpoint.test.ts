import { expect, test } from 'bun:test';
import { Endpoint } from './endpoint.ts';

test.each([
  ['10.0.0.5', 6443, 'ipv4', '10.0.0.5:6443'],
  ['fd00::5', 443, 'ipv6', '[fd00::5]:443'],
] as const)('formats address %s with port %d as %s', (address, port, family, text) => {
  const endpoint = new Endpoint(address, port);

  expect(endpoint.family).toBe(family);
  expect(endpoint.toString()).toBe(text);
});

test.each([
  ['localhost', 443],
  ['10.0.0.256', 443],
  ['', 443],
  ['10.0.0.5', 0],
  ['10.0.0.5', 65_536],
  ['10.0.0.5', 1.5],
])('rejects address "%s" with port %d', (address, port) => {
  expect(() => new Endpoint(address, port)).toThrow(TypeError);
});
