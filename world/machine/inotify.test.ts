import { describe, expect, test } from 'bun:test';
import { instancesLeft } from './inotify.ts';

describe('available inotify instances', () => {
  test('are the limit without those in use', () => {
    expect(instancesLeft(128, new Map([['', 8]]), new Map())).toBe(120);
  });

  test('do not include what a starting world has reserved and not opened yet', () => {
    const inUse = new Map([
      ['', 8],
      ['abcd', 5],
    ]);

    expect(instancesLeft(128, inUse, new Map([['abcd', 49]]))).toBe(71);
  });

  test('count a world that uses more than it reserved with what it uses', () => {
    expect(instancesLeft(128, new Map([['abcd', 60]]), new Map([['abcd', 49]]))).toBe(68);
  });

  test('do not include the reservation of a world whose programs hold none yet', () => {
    expect(instancesLeft(128, new Map(), new Map([['abcd', 49]]))).toBe(79);
  });
});
