import { describe, expect, test } from 'bun:test';
import { availableInstances } from './inotify.ts';

describe('available inotify instances', () => {
  test('are the limit minus the instances in use', () => {
    expect(availableInstances(128, new Map([['', 8]]), new Map())).toBe(120);
  });

  test('exclude instances that a starting world has reserved and not opened yet', () => {
    const inUse = new Map([
      ['', 8],
      ['abcd', 5],
    ]);

    expect(availableInstances(128, inUse, new Map([['abcd', 49]]))).toBe(71);
  });

  test('count the use of a world that uses more than it reserved', () => {
    expect(availableInstances(128, new Map([['abcd', 60]]), new Map([['abcd', 49]]))).toBe(68);
  });

  test('exclude the reservation of a world whose programs use none yet', () => {
    expect(availableInstances(128, new Map(), new Map([['abcd', 49]]))).toBe(79);
  });
});
