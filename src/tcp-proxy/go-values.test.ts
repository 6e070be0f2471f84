import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseGoBoolean, parseGoDuration } from './go-values.ts';

test.each([
  ['30s', 30_000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['500ms', 500],
  ['2us', 0.002],
  ['+1s', 1000],
  ['0s', 0],
])('%s is %d milliseconds', (text, ms) => {
  expect(parseGoDuration(text)).toBeCloseTo(ms, 6);
});

test.each(['', '30', 's', '1 s', '-1s', '1d', '1s2', '1.2.3s', 'NaNs'])(
  "'%s' is no duration",
  (text) => {
    expect(() => parseGoDuration(text)).toThrow(
      `'${text}' is no duration; write one with its unit`,
    );
  },
);

test('parts add up', () => {
  const part = fc.nat({ max: 999 });
  fc.assert(
    fc.property(part, part, part, (hours, minutes, seconds) => {
      const ms = parseGoDuration(`${hours}h${minutes}m${seconds}s`);
      expect(ms).toBe(((hours * 60 + minutes) * 60 + seconds) * 1000);
    }),
  );
});

test('booleans are those of Go', () => {
  expect(['1', 't', 'T', 'true', 'TRUE', 'True'].every(parseGoBoolean)).toBe(true);
  expect(['0', 'f', 'F', 'false', 'FALSE', 'False'].some(parseGoBoolean)).toBe(false);
  expect(() => parseGoBoolean('yes')).toThrow("'yes' is neither true nor false");
});
