import { expect, test } from 'bun:test';
import { ManualClock } from '../clock/manual-clock.ts';
import { PollBackoff, pollDelayMs, type Poll } from './poll-backoff.ts';

const SECRET: Poll = { reason: 'SecretMissing', firstMs: 5_000 };

/** The next delays, if each poll takes place on time. */
function delays(clock: ManualClock, backoff: PollBackoff, polls: readonly Poll[], count: number) {
  return Array.from({ length: count }, () => {
    const delayMs = backoff.delayMs(polls) ?? 0;
    clock.advance(delayMs);
    return delayMs;
  });
}

test('the delay is as long as the wait so far, from the first delay to a minute', () => {
  expect(pollDelayMs(0, 5_000)).toBe(5_000);
  expect(pollDelayMs(4_500, 5_000)).toBe(5_000);
  expect(pollDelayMs(20_000, 5_000)).toBe(20_000);
  expect(pollDelayMs(3_600_000, 5_000)).toBe(60_000);
});

test('the delay doubles from poll to poll', () => {
  const clock = new ManualClock();
  const backoff = new PollBackoff(clock);

  expect(delays(clock, backoff, [SECRET], 7)).toEqual([
    5_000, 5_000, 10_000, 20_000, 40_000, 60_000, 60_000,
  ]);
});

test('several reconciles at the same time do not lengthen the delay', () => {
  const backoff = new PollBackoff(new ManualClock());

  expect(Array.from({ length: 3 }, () => backoff.delayMs([SECRET]))).toEqual([5_000, 5_000, 5_000]);
});

test.each<[string, (backoff: PollBackoff) => void]>([
  ['an event', (backoff) => backoff.reset()],
  ['another reason', (backoff) => backoff.delayMs([{ ...SECRET, reason: 'Busy' }])],
  ['an end of the wait', (backoff) => backoff.delayMs([])],
])('after %s the delay is the first one', (_event, happen) => {
  const clock = new ManualClock();
  const backoff = new PollBackoff(clock);
  delays(clock, backoff, [SECRET], 5);

  happen(backoff);

  expect(backoff.delayMs([SECRET])).toBe(5_000);
});

test('nothing to poll for has no delay', () => {
  expect(new PollBackoff(new ManualClock()).delayMs([])).toBeUndefined();
});
