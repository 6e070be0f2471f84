import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ManualClock } from '../../../clock/manual-clock.ts';
import { RateLimit } from './rate-limit.ts';

describe('a rate limit', () => {
  test('grants the first turn at once, and the next after the interval', () => {
    const clock = new ManualClock();
    const rateLimit = new RateLimit(1000, clock);

    expect(rateLimit.delayMs()).toBe(0);
    clock.advance(100);

    expect(rateLimit.delayMs()).toBe(900);
    expect(rateLimit.delayMs()).toBe(900);
  });

  test('grants a turn at once after the interval', () => {
    const clock = new ManualClock();
    const rateLimit = new RateLimit(1000, clock);
    rateLimit.delayMs();

    clock.advance(1000);

    expect(rateLimit.delayMs()).toBe(0);
  });

  test('counts a turn that was used without a request', () => {
    const clock = new ManualClock();
    const rateLimit = new RateLimit(1000, clock);
    clock.advance(5000);

    rateLimit.used();

    clock.advance(100);
    expect(rateLimit.delayMs()).toBe(900);
  });

  test('grants every request a turn, and turns are at least an interval apart', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3000)), (pauses) => {
        const clock = new ManualClock();
        const rateLimit = new RateLimit(1000, clock);
        const turns = new Set<number>();
        for (const pause of pauses) {
          clock.advance(pause);
          const delayMs = rateLimit.delayMs();
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
