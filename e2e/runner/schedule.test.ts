import { describe, expect, test } from 'bun:test';
import { nextScenario, type Capacity } from './schedule.ts';
import { scenario } from './testing/scenario.ts';

const ROOM: Capacity = { maxConcurrent: 2, inotifyInstances: 120, memoryMiB: 20_000 };

const [a, b, c] = [scenario('a'), scenario('b'), scenario('c')];

describe('the next scenario', () => {
  test('is the first waiting scenario, up to the maximum number', () => {
    expect(nextScenario([a, b, c], [], ROOM)).toBe(a);
    expect(nextScenario([b, c], [a], ROOM)).toBe(b);
    expect(nextScenario([c], [a, b], ROOM)).toBeUndefined();
  });

  test('must leave enough inotify instances for running scenarios', () => {
    const large = scenario('large', { inotifyInstances: 100 });

    expect(nextScenario([large, b], [a], ROOM)).toBe(b);
    expect(nextScenario([a], [large], ROOM)).toBeUndefined();
  });

  test('waits for memory', () => {
    expect(nextScenario([b], [a], { ...ROOM, memoryMiB: 3000 })).toBeUndefined();
  });

  test('runs alone if it is exclusive', () => {
    const alone = scenario('alone', { isExclusive: true });

    expect(nextScenario([alone, b], [a], ROOM)).toBe(b);
    expect(nextScenario([alone], [a], ROOM)).toBeUndefined();
    expect(nextScenario([alone], [], ROOM)).toBe(alone);
    expect(nextScenario([a], [alone], ROOM)).toBeUndefined();
  });

  test('is not optional while an exclusive core scenario waits', () => {
    const alone = scenario('alone', { isExclusive: true });
    const optional = scenario('optional', { isOptional: true });

    expect(nextScenario([alone, optional], [a], ROOM)).toBeUndefined();
    expect(nextScenario([optional], [a], ROOM)).toBe(optional);
  });

  test('starts regardless of resources if no scenario runs', () => {
    const none: Capacity = { maxConcurrent: 1, inotifyInstances: 0, memoryMiB: 0 };

    expect(nextScenario([a], [], none)).toBe(a);
  });

  test('is undefined if no scenario waits', () => {
    expect(nextScenario([], [], ROOM)).toBeUndefined();
  });
});
