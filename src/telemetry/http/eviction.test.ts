import { expect, test } from 'bun:test';
import { SILENT_MS, connectionToEvict, type EvictionCandidate } from './eviction.ts';

const NOW_MS = 10_000;

interface NamedCandidate extends EvictionCandidate {
  readonly name: string;
}

function candidate(
  name: string,
  source: string,
  ageMs: number,
  hasRequest = false,
): NamedCandidate {
  return { name, source, sinceMs: NOW_MS - ageMs, hasRequest };
}

function evictedName(...candidates: readonly NamedCandidate[]): string | undefined {
  return connectionToEvict(candidates, NOW_MS)?.name;
}

const OLD_MS = SILENT_MS;
const YOUNG_MS = SILENT_MS - 1;

/** Returns connections from many sources, so that no source is crowded. */
function otherCandidates(): NamedCandidate[] {
  return Array.from({ length: 12 }, (_, index) => candidate(`o${index}`, `s${index}`, 1));
}

test('evicts a silent connection before one that is too new to have sent a request', () => {
  expect(
    evictedName(
      candidate('young', 'a', YOUNG_MS),
      candidate('young too', 'a', YOUNG_MS),
      candidate('reader', 'b', 5000, true),
      candidate('silent', 'c', OLD_MS),
      ...otherCandidates(),
    ),
  ).toBe('silent');
});

test('evicts the oldest silent connection of the address with the most connections', () => {
  expect(
    evictedName(
      candidate('alone', 'a', 5000),
      candidate('second', 'b', OLD_MS),
      candidate('first', 'b', OLD_MS + 1),
      ...otherCandidates(),
    ),
  ).toBe('first');
});

test('evicts the oldest connection of the address with the most connections if none is silent', () => {
  expect(
    evictedName(
      candidate('scraper', 'a', 9000, true),
      candidate('second', 'b', 10, true),
      candidate('first', 'b', 20, true),
      ...otherCandidates(),
    ),
  ).toBe('first');
});

test.each([
  ['is new', YOUNG_MS],
  ['is silent', 5000],
])('does not evict a probe from another address that %s during a flood', (_what, ageMs) => {
  expect(
    evictedName(
      candidate('probe', 'kubelet', ageMs),
      candidate('first of one', 'one', 2),
      candidate('second of one', 'one', 1),
      candidate('first of two', 'two', 4),
      candidate('second of two', 'two', 3),
      candidate('third of two', 'two', 3),
    ),
  ).toBe('first of two');
});

test('evicts a silent connection of a crowded address before an older one that reads', () => {
  expect(evictedName(candidate('reader', 'a', 5000, true), candidate('silent', 'a', OLD_MS))).toBe(
    'silent',
  );
});

test('evicts a slow reader of a crowded address before a new connection, which may be a probe', () => {
  expect(evictedName(candidate('young', 'a', 1), candidate('reader', 'a', 5000, true))).toBe(
    'reader',
  );
});

test('evicts nothing if there is no connection', () => {
  expect(evictedName()).toBeUndefined();
});
