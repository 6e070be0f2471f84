import { expect, test } from 'bun:test';
import { claimRange, freePort, RANGE_SIZE } from './free-port.ts';

test('gives two callers that prefer the same range different ones', () => {
  using one = claimRange(5);
  using other = claimRange(5);

  expect(other.first).not.toBe(one.first);
});

test('returns each port once, from a range that stays claimed', () => {
  const ports = Array.from({ length: 50 }, () => freePort());

  expect(new Set(ports).size).toBe(50);
  using other = claimRange(process.pid);
  expect(ports.filter((port) => port >= other.first && port < other.first + RANGE_SIZE)).toEqual(
    [],
  );
});
