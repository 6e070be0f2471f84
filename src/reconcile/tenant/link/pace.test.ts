import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ManualClock } from '../../../clock/manual-clock.ts';
import { Pace } from './pace.ts';

describe('a pace', () => {
  test('lets the first go at once, and the next after the interval', () => {
    const clock = new ManualClock();
    const pace = new Pace(1000, clock);

    expect(pace.delayMs()).toBe(0);
    clock.advance(100);

    expect(pace.delayMs()).toBe(900);
    expect(pace.delayMs()).toBe(900);
  });

  test('lets whoever comes after a while go at once', () => {
    const clock = new ManualClock();
    const pace = new Pace(1000, clock);
    pace.delayMs();

    clock.advance(1000);

    expect(pace.delayMs()).toBe(0);
  });

  test('counts from a turn that was taken without asking', () => {
    const clock = new ManualClock();
    const pace = new Pace(1000, clock);
    clock.advance(5000);

    pace.taken();

    clock.advance(100);
    expect(pace.delayMs()).toBe(900);
  });

  test('has a turn after everybody who asks, and no two turns nearer than the interval', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3000)), (pauses) => {
        const clock = new ManualClock();
        const pace = new Pace(1000, clock);
        const turns = new Set<number>();
        for (const pause of pauses) {
          clock.advance(pause);
          const delayMs = pace.delayMs();
          expect(delayMs).toBeGreaterThanOrEqual(0);
          expect(delayMs).toBeLessThanOrEqual(1000);
          turns.add(clock.nowMs() + delayMs);
        }

        const times = [...turns];
        for (const [index, time] of times.slice(1).entries()) {
          expect(time - times[index]!).toBeGreaterThanOrEqual(1000);
        }
      }),
    );
  });
});
