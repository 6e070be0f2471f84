import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseDuration } from './duration.ts';

test.each([
  ['30s', 30_000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['500ms', 500],
  ['2us', 0.002],
  ['+1s', 1000],
  ['0s', 0],
  ['0', 0],
])('%s is %d milliseconds', (text, ms) => {
  expect(parseDuration(text)).toBeCloseTo(ms, 6);
});

test.each(['', '30', 's', '1 s', '-1s', '1d', '1s2', '1.2.3s', 'NaNs'])(
  "'%s' is rejected",
  (text) => {
    expect(() => parseDuration(text)).toThrow(
      `invalid duration '${text}': must be numbers with units`,
    );
  },
);

test('adds up the parts', () => {
  const part = fc.nat({ max: 999 });
  fc.assert(
    fc.property(part, part, part, (hours, minutes, seconds) => {
      const ms = parseDuration(`${hours}h${minutes}m${seconds}s`);
      expect(ms).toBe(((hours * 60 + minutes) * 60 + seconds) * 1000);
    }),
  );
});
