import { expect, test } from 'bun:test';
import { SILENT_MS, whoLeaves, type Visitor } from './leaving.ts';

const NOW_MS = 10_000;

interface Named extends Visitor {
  readonly name: string;
}

function visitor(name: string, source: string, ageMs: number, hasAsked = false): Named {
  return { name, source, sinceMs: NOW_MS - ageMs, hasAsked };
}

function leaves(...visitors: readonly Named[]): string | undefined {
  return whoLeaves(visitors, NOW_MS)?.name;
}

const OLD_MS = SILENT_MS;
const YOUNG_MS = SILENT_MS - 1;

/** Returns connections from many sources, so that no source is crowded. */
function others(): Named[] {
  return Array.from({ length: 12 }, (_, index) => visitor(`o${index}`, `s${index}`, 1));
}

test('a silent one leaves, and not one that has hardly had the time to ask', () => {
  expect(
    leaves(
      visitor('young', 'a', YOUNG_MS),
      visitor('young too', 'a', YOUNG_MS),
      visitor('reader', 'b', 5000, true),
      visitor('silent', 'c', OLD_MS),
      ...others(),
    ),
  ).toBe('silent');
});

test('of silent ones the oldest leaves, of the address with the most connections', () => {
  expect(
    leaves(
      visitor('alone', 'a', 5000),
      visitor('second', 'b', OLD_MS),
      visitor('first', 'b', OLD_MS + 1),
      ...others(),
    ),
  ).toBe('first');
});

test('where none is silent, the oldest leaves, of the address with the most', () => {
  expect(
    leaves(
      visitor('scraper', 'a', 9000, true),
      visitor('second', 'b', 10, true),
      visitor('first', 'b', 20, true),
      ...others(),
    ),
  ).toBe('first');
});

test.each([
  ['has hardly had the time to ask', YOUNG_MS],
  ['seems silent', 5000],
])('a probe from elsewhere that %s stays in a flood', (_what, ageMs) => {
  expect(
    leaves(
      visitor('probe', 'kubelet', ageMs),
      visitor('first of one', 'one', 2),
      visitor('second of one', 'one', 1),
      visitor('first of two', 'two', 4),
      visitor('second of two', 'two', 3),
      visitor('third of two', 'two', 3),
    ),
  ).toBe('first of two');
});

test('in a crowd a silent one leaves before an older one that reads', () => {
  expect(leaves(visitor('reader', 'a', 5000, true), visitor('silent', 'a', OLD_MS))).toBe('silent');
});

test('in a crowd a slow reader leaves before a new one: that may be a probe', () => {
  expect(leaves(visitor('young', 'a', 1), visitor('reader', 'a', 5000, true))).toBe('reader');
});

test('nobody leaves where nobody is', () => {
  expect(leaves()).toBeUndefined();
});
