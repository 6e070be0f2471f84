import { describe, expect, test } from 'bun:test';
import { DrivenClock } from './driven-clock.ts';
import { OutsideWork } from './outside-work.ts';

/** Returns the error of a promise as text. `rejects` is no alternative, because it runs the event loop. */
async function failureOf(work: Promise<unknown>): Promise<string> {
  return work.then(() => 'none', String);
}

describe('a driven clock', () => {
  test('advances from timer to timer until the condition is met', async () => {
    const clock = new DrivenClock();
    const seen: number[] = [];
    clock.every(60_000, () => seen.push(clock.nowMs()));

    await clock.until('three ticks', () => seen.length === 3);

    expect(seen).toEqual([60_000, 120_000, 180_000]);
    expect(clock.nowMs()).toBe(180_000);
  });

  test('finishes the work of a timer before the next timer', async () => {
    const clock = new DrivenClock();
    const seen: string[] = [];
    clock.after(1000, () => {
      void (async () => {
        for (let step = 0; step < 100; step++) await Promise.resolve();
        seen.push(`first at ${clock.nowMs()}`);
      })();
    });
    clock.after(1001, () => seen.push('second'));

    await clock.until('both', () => seen.length === 2);

    expect(seen).toEqual(['first at 1000', 'second']);
  });

  test('waits for work outside of the event loop, and for follow-up work', async () => {
    const outside = new OutsideWork();
    const work = async () => outside.during(Bun.sleep(5));
    const clock = new DrivenClock(outside);
    const seen: string[] = [];
    clock.after(10, () => seen.push('timer'));
    void work()
      .then(work)
      .then(() => seen.push('work'));

    await clock.until('both', () => seen.length === 2);

    expect(seen).toEqual(['work', 'timer']);
  });

  test('throws if no timer is left or the next one is beyond the limit', async () => {
    const clock = new DrivenClock();

    expect(await failureOf(clock.until('never true', () => false))).toContain('no timer is left');
    clock.every(1000, () => {});
    const expired = clock.until('never true', () => false, 5000);
    expect(await failureOf(expired)).toContain('not within 5000 ms: never true');
  });

  test('returns the result or the error of a promise', async () => {
    const clock = new DrivenClock();
    const { promise, resolve } = Promise.withResolvers<string>();
    clock.after(1000, () => resolve('late'));

    expect(await clock.settled('the value', promise)).toBe('late');
    expect(clock.nowMs()).toBe(1000);
    const failing = clock.settled('the error', Promise.reject(new Error('at once')));
    expect(await failureOf(failing)).toContain('at once');
  });

  test('advances by a fixed time, timer by timer', async () => {
    const clock = new DrivenClock();
    let ticks = 0;
    clock.every(400, () => ticks++);

    await clock.pass(1000);

    expect(ticks).toBe(2);
    expect(clock.nowMs()).toBe(1000);
  });
});
