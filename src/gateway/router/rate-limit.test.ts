import { expect, test } from 'bun:test';
import { RateLimit } from './rate-limit.ts';

let nowUs = 0;

function limit(startUs = 5_000_000) {
  nowUs = startUs;
  return new RateLimit(4, undefined, () => nowUs);
}

function admitted(of: RateLimit, slot: number, perSecond: number, times: number) {
  let count = 0;
  for (let time = 0; time < times; time++) if (of.admits(slot, perSecond)) count++;
  return count;
}

test("admits one second's worth at once, and then at the rate", () => {
  const of = limit();

  expect(admitted(of, 1, 10, 100)).toBe(10);
  nowUs += 300_000;
  expect(admitted(of, 1, 10, 100)).toBe(3);
  nowUs += 60_000_000;
  expect(admitted(of, 1, 10, 100)).toBe(10);
});

test('admits exactly the rate over a long time', () => {
  const of = limit();
  admitted(of, 0, 50, 1000);

  let count = 0;
  for (let ms = 0; ms < 10_000; ms++) {
    nowUs += 1000;
    count += admitted(of, 0, 50, 5);
  }

  expect(count).toBe(500);
});

test('leaves the other slots alone', () => {
  const of = limit();
  admitted(of, 1, 10, 100);

  expect(admitted(of, 2, 10, 100)).toBe(10);
});

test('is one limit for two threads', () => {
  const one = limit();
  const two = new RateLimit(4, one.buffer, () => nowUs);

  expect(admitted(one, 3, 10, 7) + admitted(two, 3, 10, 100)).toBe(10);
});

test.each([2 ** 31 - 500_000, 2 ** 32 - 500_000])(
  'goes on when its clock wraps, at %d',
  (startUs) => {
    const of = limit(startUs - 3_000_000);
    admitted(of, 0, 10, 100);
    nowUs = startUs;

    expect(admitted(of, 0, 10, 100)).toBe(10);
    nowUs += 1_000_000;
    expect(admitted(of, 0, 10, 100)).toBe(10);
  },
);

test('forgets a burst of a long time ago, even if the clock has wrapped since', () => {
  const of = limit();
  admitted(of, 0, 10, 100);

  nowUs += 2 ** 31 + 5_000_000;

  expect(admitted(of, 0, 10, 100)).toBe(10);
});
