import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ManualClock } from '../clock/manual-clock.ts';
import { backoffMs, delay, SERVER_BACKOFF } from './backoff.ts';

describe('the delay', () => {
  test('is zero without a failure', () => {
    expect(backoffMs(0, 0.5)).toBe(0);
  });

  test('doubles up to its limit', () => {
    const delays = [1, 2, 3, 4, 100].map((failures) =>
      backoffMs(failures, 0, { firstMs: 100, maxMs: 500 }),
    );

    expect(delays).toEqual([100, 200, 400, 500, 500]);
  });

  test('is randomly shortened by up to half', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (failures, random) => {
          const full = backoffMs(failures, 0);
          const spread = backoffMs(failures, random);

          expect(spread).toBeGreaterThanOrEqual(Math.floor(full / 2));
          expect(spread).toBeLessThanOrEqual(full);
          expect(full).toBeLessThanOrEqual(SERVER_BACKOFF.maxMs);
        },
      ),
    );
  });
});

describe('waiting', () => {
  test('lasts for the given time', async () => {
    const clock = new ManualClock();
    let isOver = false;
    const waiting = delay(clock, 100, new AbortController().signal).then(() => (isOver = true));

    clock.advance(99);
    await Promise.resolve();
    const wasOver = isOver;
    clock.advance(1);
    await waiting;

    expect(wasOver).toBe(false);
    expect(isOver).toBe(true);
  });

  test('ends with the signal, and leaves nothing on the clock', async () => {
    const clock = new ManualClock();
    const abort = new AbortController();
    const waiting = delay(clock, 1e9, abort.signal);

    abort.abort();
    await waiting;

    expect(clock.nextDueMs).toBeUndefined();
  });

  test('does not begin after the signal', async () => {
    await delay(new ManualClock(), 1e9, AbortSignal.abort());
  });
});
