import { expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { WriteBackoff } from './write-backoff.ts';

test('the wait grows with each repetition of a write, up to five minutes', () => {
  const clock = new ManualClock();
  const repeats = new WriteBackoff(clock);
  const waitsMs: number[] = [];

  for (let times = 0; times < 12; times++) {
    const waitMs = repeats.waitMs('a', 'x');
    waitsMs.push(waitMs);
    clock.advance(waitMs);
    repeats.add('a', 'x');
  }

  expect(waitsMs[0]).toBe(0);
  expect(waitsMs.toSorted((a, b) => a - b)).toEqual(waitsMs);
  expect(waitsMs.at(-1)).toBe(300_000);
});

test('a write of other content or to another object is not a repetition', () => {
  const repeats = new WriteBackoff(new ManualClock());
  repeats.add('a', 'x');

  expect(repeats.waitMs('a', 'x')).toBeGreaterThan(0);
  expect(repeats.waitMs('a', 'y')).toBe(0);
  expect(repeats.waitMs('b', 'x')).toBe(0);
});

test('a write is forgotten when its backoff would start over', () => {
  const clock = new ManualClock();
  const repeats = new WriteBackoff(clock);
  repeats.add('a', 'x');
  clock.advance(300_000);
  repeats.add('b', 'x');

  clock.advance(300_001);
  repeats.forgetOld();

  expect(repeats.size).toBe(1);
  expect(repeats.waitMs('b', 'x')).toBe(0);
});

test('the backoff starts over after ten minutes without a write', () => {
  const clock = new ManualClock();
  const repeats = new WriteBackoff(clock);
  for (let times = 0; times < 5; times++) repeats.add('a', 'x');

  clock.advance(600_001);
  repeats.add('a', 'x');

  expect(repeats.waitMs('a', 'x')).toBe(1_000);
});

test('returns when the write was first found reverted, however often that happens', () => {
  const clock = new ManualClock();
  let now = new Date('2026-11-16T10:00:00Z');
  const repeats = new WriteBackoff(clock, () => now);
  repeats.add('a', 'x');

  const first = repeats.revertedSince('a', 'x');
  now = new Date('2026-11-16T10:00:07Z');
  repeats.add('a', 'x');

  expect(first).toEqual(new Date('2026-11-16T10:00:00Z'));
  expect(repeats.revertedSince('a', 'x')).toEqual(first);
  expect(repeats.revertedSince('a', 'y')).toBeUndefined();

  clock.advance(600_001);
  repeats.add('a', 'x');

  expect(repeats.revertedSince('a', 'x')).toEqual(now);
});
