import { expect, test } from 'bun:test';
import { RateLimit } from './rate-limit.ts';

let nowUs = 0;

function limit(startUs = 5_000_000) {
  nowUs = startUs;
  return new RateLimit(4, undefined, () => nowUs);
}

function admitted(rates: RateLimit, slot: number, perSecond: number, times: number) {
  let count = 0;
  for (let time = 0; time < times; time++) if (rates.admits(slot, perSecond)) count++;
  return count;
}

test("admits a burst of one second's worth, then the rate", () => {
  const rates = limit();

  expect(admitted(rates, 1, 10, 100)).toBe(10);
  nowUs += 300_000;
  expect(admitted(rates, 1, 10, 100)).toBe(3);
  nowUs += 60_000_000;
  expect(admitted(rates, 1, 10, 100)).toBe(10);
});

test('admits exactly the rate over a long time', () => {
  const rates = limit();
  admitted(rates, 0, 50, 1000);

  let count = 0;
  for (let ms = 0; ms < 10_000; ms++) {
    nowUs += 1000;
    count += admitted(rates, 0, 50, 5);
  }

  expect(count).toBe(500);
});

test('limits each slot separately', () => {
  const rates = limit();
  admitted(rates, 1, 10, 100);

  expect(admitted(rates, 2, 10, 100)).toBe(10);
});

test('two threads share one limit', () => {
  const first = limit();
  const second = new RateLimit(4, first.buffer, () => nowUs);

  expect(admitted(first, 3, 10, 7) + admitted(second, 3, 10, 100)).toBe(10);
});

test.each([2 ** 31 - 500_000, 2 ** 32 - 500_000])(
  'continues when its clock wraps, at %d',
  (startUs) => {
    const rates = limit(startUs - 3_000_000);
    admitted(rates, 0, 10, 100);
    nowUs = startUs;

    expect(admitted(rates, 0, 10, 100)).toBe(10);
    nowUs += 1_000_000;
    expect(admitted(rates, 0, 10, 100)).toBe(10);
  },
);

test('ignores an old burst, even if the clock has wrapped since', () => {
  const rates = limit();
  admitted(rates, 0, 10, 100);

  nowUs += 2 ** 31 + 5_000_000;

  expect(admitted(rates, 0, 10, 100)).toBe(10);
});
