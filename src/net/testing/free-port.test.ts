import { expect, test } from 'bun:test';
import { claimRange, freePort, RANGE_SIZE } from './free-port.ts';

test('gives two callers that prefer the same range different ones', () => {
  using one = claimRange(5);
  using other = claimRange(5);

  expect(other.first).not.toBe(one.first);
});

test('returns each port once, from ranges that stay claimed, and claims another when one is used up', () => {
  const count = RANGE_SIZE + 1;
  const ports = Array.from({ length: count }, () => freePort());

  expect(new Set(ports).size).toBe(count);
  using other = claimRange(process.pid);
  expect(ports.filter((port) => port >= other.first && port < other.first + RANGE_SIZE)).toEqual(
    [],
  );
});
