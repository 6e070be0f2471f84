import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { pagesOf } from './slice-pages.ts';

test('fills pages in order', () => {
  expect(pagesOf(['c', 'a', 'b'], [], 2)).toEqual([['a', 'b'], ['c']]);
});

test('keeps all items on their pages when one is removed', () => {
  expect(
    pagesOf(
      ['b', 'c', 'd'],
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      2,
    ),
  ).toEqual([['b'], ['c', 'd']]);
});

test('adds new items to pages with room, and then to a new page', () => {
  const pages = pagesOf(['b', 'c', 'd', 'x', 'y'], [['b'], ['c', 'd']], 2);

  expect(pages).toEqual([['b', 'x'], ['c', 'd'], ['y']]);
});

test('rebuilds the pages if the first one would be empty, since the API server adopts its name', () => {
  expect(
    pagesOf(
      ['c', 'd'],
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      2,
    ),
  ).toEqual([['c', 'd']]);
});

test('splits a page that another client has overfilled', () => {
  expect(pagesOf(['a', 'b', 'c'], [['a', 'b', 'c']], 2)).toEqual([['a', 'b'], ['c']]);
});

test('contains every item once, respects the size, and changes one page per item', () => {
  const names = fc.uniqueArray(fc.nat(60).map(String), { maxLength: 40 });

  fc.assert(
    fc.property(names, names, fc.integer({ min: 1, max: 7 }), (before, after, size) => {
      const first = pagesOf(before, [], size);
      const second = pagesOf(after, first, size);
      const [removed] = after;
      const third = pagesOf(after.slice(1), second, size);

      expect(second.flat().toSorted()).toEqual(after.toSorted());
      expect(Math.max(0, ...second.map(({ length }) => length))).toBeLessThanOrEqual(size);
      const changed = second.filter((page, index) => page.join() !== (third[index] ?? []).join());
      const wasAloneOnFirst = second[0]?.length === 1 && second[0][0] === removed;
      if (!wasAloneOnFirst) expect(changed.length).toBeLessThanOrEqual(1);
    }),
  );
});
