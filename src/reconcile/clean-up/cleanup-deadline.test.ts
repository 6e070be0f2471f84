import { describe, expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { CleanupDeadline } from './cleanup-deadline.ts';

const DELETED = { uid: 'uid-of-blue' };

describe('the time of a cleanup', () => {
  test('begins with the first attempt if the deletion has no time, and ends once', () => {
    const clock = new ManualClock();
    const deadline = new CleanupDeadline(300_000, clock);
    clock.advance(1_000_000);

    expect(deadline.timeLeft(DELETED)).toMatchObject({ waitedMs: 0, leftMs: 300_000 });
    clock.advance(299_999);
    expect(deadline.timeLeft(DELETED)).toMatchObject({ waitedMs: 299_999, leftMs: 1 });
    clock.advance(2);
    expect(deadline.timeLeft(DELETED).leftMs).toBe(0);
  });

  test.each([
    ['continues where the previous process stopped', 200, { leftMs: 100_000, waitedMs: 200_000 }],
    ['has a minute for a process that was away', 3_600, { leftMs: 60_000, waitedMs: 3_600_000 }],
    ['is whole where the date is behind', -3_600, { leftMs: 300_000, waitedMs: 0 }],
  ])('%s', (_what, agoSeconds, expected) => {
    const clock = new ManualClock();
    const date = new Date('2026-11-16T07:26:40Z');
    const deadline = new CleanupDeadline(300_000, clock, () => date);
    const deletionTimestamp = new Date(date.getTime() - agoSeconds * 1000).toISOString();
    const deleted = { ...DELETED, deletionTimestamp };

    const { leftMs, ...time } = deadline.timeLeft(deleted);

    expect({ ...time, leftMs }).toMatchObject(expected);
    expect(time.givesUpAt.getTime() - date.getTime()).toBe(leftMs);
    expect(time.isHalfOver).toBe(false);
    clock.advance(leftMs - 1);
    expect(deadline.timeLeft(deleted)).toMatchObject({ leftMs: 1, isHalfOver: true });
    clock.advance(1);
    expect(deadline.timeLeft(deleted).leftMs).toBe(0);
  });

  test('is not extended to a minute if the timeout is shorter', () => {
    const now = () => new Date('2026-11-16T07:26:40Z');
    const deadline = new CleanupDeadline(5_000, new ManualClock(), now);

    const { leftMs } = deadline.timeLeft({ ...DELETED, deletionTimestamp: '2026-11-16T07:00:00Z' });

    expect(leftMs).toBe(5_000);
  });

  test('gives nodes that were reached late their share', () => {
    const clock = new ManualClock();
    const deadline = new CleanupDeadline(300_000, clock);
    deadline.timeLeft(DELETED);
    clock.advance(290_000);

    expect(deadline.timeLeft(DELETED).addressIsLate()).toBe(false);
    clock.advance(149_999);
    expect(deadline.timeLeft(DELETED).addressIsLate()).toBe(false);
    expect(deadline.timeLeft(DELETED).leftMs).toBe(1);
    clock.advance(1);
    expect(deadline.timeLeft(DELETED).addressIsLate()).toBe(true);
  });

  test('is reported in the same words each time, even if the date changes', () => {
    const clock = new ManualClock();
    let date = new Date('2026-11-16T07:26:40Z');
    const deadline = new CleanupDeadline(300_000, clock, () => date);
    const first = deadline.timeLeft(DELETED).givesUpAt;
    clock.advance(10_000);
    date = new Date('2027-01-01T00:00:00Z');

    const { givesUpAt } = deadline.timeLeft(DELETED);

    expect(first.toISOString()).toBe('2026-11-16T07:31:40.000Z');
    expect(givesUpAt).toEqual(first);
  });

  test('is new for the next Exposure of the same name', () => {
    const clock = new ManualClock();
    const ANOTHER = { uid: 'another-uid' };
    const deadline = new CleanupDeadline(300_000, clock);
    deadline.timeLeft(DELETED);
    clock.advance(1_000);

    expect(deadline.timeLeft(ANOTHER).waitedMs).toBe(0);
    clock.advance(1_000);
    expect(deadline.timeLeft(ANOTHER).waitedMs).toBe(1_000);
  });
});
