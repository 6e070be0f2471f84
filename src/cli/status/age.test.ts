import { expect, test } from 'bun:test';
import { ageText } from './age.ts';

const NOW = new Date('2026-11-16T12:00:00Z');

test.each([
  ['2026-11-16T12:00:00Z', '0s'],
  ['2026-11-16T11:59:01Z', '59s'],
  ['2026-11-16T11:59:00Z', '1m'],
  ['2026-11-16T10:59:00Z', '1h'],
  ['2026-11-15T12:00:01Z', '23h'],
  ['2026-08-08T12:00:00Z', '100d'],
  // A clock that is ahead of ours.
  ['2026-11-16T12:00:09Z', '0s'],
  ['nonsense', '-'],
  [undefined, '-'],
])('%p was %s ago', (since, text) => {
  expect(ageText(since, NOW)).toBe(text);
});
