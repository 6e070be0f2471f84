import { expect, test } from 'bun:test';
import { claimRange, freePort, RANGE_SIZE } from './free-port.ts';

test('assigns different ranges to two callers that prefer the same range', () => {
  using first = claimRange(5);
  using second = claimRange(5);

  expect(second.first).not.toBe(first.first);
});

test('returns each port once, and claims another range when one is used up', () => {
  const count = RANGE_SIZE + 1;
  const ports = Array.from({ length: count }, () => freePort());

  expect(new Set(ports).size).toBe(count);
  using other = claimRange(process.pid);
  expect(ports.filter((port) => port >= other.first && port < other.first + RANGE_SIZE)).toEqual(
    [],
  );
});
