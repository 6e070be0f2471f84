import { expect, test } from 'bun:test';
import { parseGoBoolean } from './go-values.ts';

test('parses the booleans of Go', () => {
  expect(['1', 't', 'T', 'true', 'TRUE', 'True'].every(parseGoBoolean)).toBe(true);
  expect(['0', 'f', 'F', 'false', 'FALSE', 'False'].some(parseGoBoolean)).toBe(false);
  expect(() => parseGoBoolean('yes')).toThrow("'yes' is not true or false");
});
