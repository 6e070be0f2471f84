import { expect, test } from 'bun:test';
import { escapedJson, escapedText, isPlain, plainText } from './plain-text.ts';

const HOSTILE = 'a\u001B[2Jb\r\nc\u009Bd\u202Ee\u2028f\u007Fg';

test('replaces unsafe characters with a space', () => {
  expect(plainText(HOSTILE)).toBe('a [2Jb c d e f g');
});

test('replaces unsafe characters with their escapes', () => {
  expect(escapedText(HOSTILE)).toBe('a\\u001b[2Jb\\u000d\\u000ac\\u009bd\\u202ee\\u2028f\\u007fg');
});

test('escapes unsafe characters in JSON without changing its value', () => {
  const json = escapedJson(JSON.stringify({ text: HOSTILE }, null, 2));

  expect(JSON.parse(json)).toEqual({ text: HOSTILE });
  expect(json.split('\n').every(isPlain)).toBeTrue();
});

test('leaves text of any language unchanged', () => {
  const text = 'zażółć 日本語 עברית "quoted" \u200D👩‍💻';

  expect([plainText(text), escapedText(text)]).toEqual([text, text]);
  expect(isPlain(text)).toBeTrue();
});
