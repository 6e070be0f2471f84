import { describe, expect, test } from 'bun:test';
import { nextScenario, type Room } from './schedule.ts';
import { scenario } from './testing/scenario.ts';

const ROOM: Room = { maxConcurrent: 2, inotifyInstances: 120, memoryMiB: 20_000 };

const [a, b, c] = [scenario('a'), scenario('b'), scenario('c')];

describe('the next scenario', () => {
  test('is the first waiting one, up to the maximum number', () => {
    expect(nextScenario([a, b, c], [], ROOM)).toBe(a);
    expect(nextScenario([b, c], [a], ROOM)).toBe(b);
    expect(nextScenario([c], [a, b], ROOM)).toBeUndefined();
  });

  test('leaves enough inotify instances for the running ones', () => {
    const large = scenario('large', { inotifyInstances: 100 });

    expect(nextScenario([large, b], [a], ROOM)).toBe(b);
    expect(nextScenario([a], [large], ROOM)).toBeUndefined();
  });

  test('waits for memory', () => {
    expect(nextScenario([b], [a], { ...ROOM, memoryMiB: 3000 })).toBeUndefined();
  });

  test('runs alone if it requires that', () => {
    const alone = scenario('alone', { isExclusive: true });

    expect(nextScenario([alone, b], [a], ROOM)).toBe(b);
    expect(nextScenario([alone], [a], ROOM)).toBeUndefined();
    expect(nextScenario([alone], [], ROOM)).toBe(alone);
    expect(nextScenario([a], [alone], ROOM)).toBeUndefined();
  });

  test('is not an optional one while a core one waits for the others to end', () => {
    const alone = scenario('alone', { isExclusive: true });
    const optional = scenario('optional', { isOptional: true });

    expect(nextScenario([alone, optional], [a], ROOM)).toBeUndefined();
    expect(nextScenario([optional], [a], ROOM)).toBe(optional);
  });

  test('starts regardless of resources if none runs', () => {
    const none: Room = { maxConcurrent: 1, inotifyInstances: 0, memoryMiB: 0 };

    expect(nextScenario([a], [], none)).toBe(a);
  });

  test('does not exist if none waits', () => {
    expect(nextScenario([], [], ROOM)).toBeUndefined();
  });
});
