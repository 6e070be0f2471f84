import { expect, test } from 'bun:test';
import { ManualClock } from '../clock/manual-clock.ts';

test('a clock moved by hand ticks when it is due, and not after it was stopped', () => {
  const clock = new ManualClock();
  const ticks: number[] = [];
  const stop = clock.every(1000, () => ticks.push(clock.nowMs()));

  clock.advance(999);
  clock.advance(1);
  clock.advance(5000);
  stop();
  clock.advance(5000);

  expect(ticks).toEqual([1000, 6000]);
});
