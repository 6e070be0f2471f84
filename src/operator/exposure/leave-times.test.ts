import { describe, expect, test } from 'bun:test';
import { ManualClock } from '../../engine/clock.ts';
import { LeaveTimes } from './leave-times.ts';

const KEY = 'tenants/blue';
const UID = 'uid-of-blue';

describe('the time of an Exposure that leaves', () => {
  test('begins with the first attempt, and ends once', () => {
    const clock = new ManualClock();
    const times = new LeaveTimes(300_000, clock);
    clock.advance(1_000_000);

    expect(times.timeOf(KEY, UID)).toMatchObject({ waitedMs: 0, leftMs: 300_000 });
    clock.advance(299_999);
    expect(times.timeOf(KEY, UID)).toMatchObject({ waitedMs: 299_999, leftMs: 1 });
    clock.advance(2);
    expect(times.timeOf(KEY, UID).leftMs).toBe(0);
  });

  test('leaves nodes that were reached late their share of it', () => {
    const clock = new ManualClock();
    const times = new LeaveTimes(300_000, clock);
    times.timeOf(KEY, UID);
    clock.advance(290_000);

    expect(times.timeOf(KEY, UID).addressIsLate()).toBe(false);
    clock.advance(149_999);
    expect(times.timeOf(KEY, UID).addressIsLate()).toBe(false);
    expect(times.timeOf(KEY, UID).leftMs).toBe(1);
    clock.advance(1);
    expect(times.timeOf(KEY, UID).addressIsLate()).toBe(true);
  });

  test('is told in the same words each time, whatever becomes of the date', () => {
    const clock = new ManualClock();
    let date = new Date('2026-11-16T07:26:40Z');
    const times = new LeaveTimes(300_000, clock, () => date);
    const first = times.timeOf(KEY, UID).givesUpAt;
    clock.advance(10_000);
    date = new Date('2027-01-01T00:00:00Z');

    const { givesUpAt } = times.timeOf(KEY, UID);

    expect(first.toISOString()).toBe('2026-11-16T07:31:40.000Z');
    expect(givesUpAt).toEqual(first);
  });

  test('is another for another Exposure, and for the next of the same name', () => {
    const clock = new ManualClock();
    const times = new LeaveTimes(300_000, clock);
    times.timeOf(KEY, UID);
    clock.advance(1_000);
    expect(times.timeOf('tenants/green', UID).waitedMs).toBe(0);

    expect(times.timeOf(KEY, 'another-uid').waitedMs).toBe(0);
    clock.advance(1_000);
    expect(times.timeOf(KEY, 'another-uid').waitedMs).toBe(1_000);

    times.forget(KEY);

    expect(times.timeOf(KEY, UID).waitedMs).toBe(0);
  });
});
