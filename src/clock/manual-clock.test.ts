import { describe, expect, test } from 'bun:test';
import { ManualClock } from './manual-clock.ts';

const START = new Date('2026-01-02T03:04:05Z');

describe('a manual clock', () => {
  test('returns the date that matches the elapsed time', () => {
    const clock = new ManualClock(START);

    clock.advance(61_000);

    expect(clock.nowMs()).toBe(61_000);
    expect(clock.now()).toEqual(new Date('2026-01-02T03:05:06Z'));
  });

  test('runs a one-shot timer once and a periodic timer each time it is due', () => {
    const clock = new ManualClock();
    const seen: string[] = [];
    clock.after(10, () => seen.push('once'));
    const stop = clock.every(10, () => seen.push('again'));

    clock.advance(9);
    expect(seen).toEqual([]);
    clock.advance(1);
    expect(seen).toEqual(['once', 'again']);
    clock.advance(10);
    stop();
    clock.advance(10);

    expect(seen).toEqual(['once', 'again', 'again']);
  });

  test('runs a periodic timer once per advance, even by several periods', () => {
    const clock = new ManualClock();
    const ticks: number[] = [];
    clock.every(1000, () => ticks.push(clock.nowMs()));

    clock.advance(5500);
    clock.advance(999);
    clock.advance(1);

    expect(ticks).toEqual([5500, 6500]);
  });

  test('returns when the next timer is due, without canceled ones', () => {
    const clock = new ManualClock();
    const cancel = clock.after(10, () => {});
    clock.every(30, () => {});

    expect(clock.nextDueMs).toBe(10);
    cancel();
    expect(clock.nextDueMs).toBe(30);
    expect(new ManualClock().nextDueMs).toBeUndefined();
  });

  test('aborts a timeout signal with the reason of AbortSignal.timeout', () => {
    const clock = new ManualClock();
    const signal = clock.timeoutSignal(1000);

    clock.advance(999);
    expect(signal.aborted).toBe(false);
    clock.advance(1);

    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });
});
