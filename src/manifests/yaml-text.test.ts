import { describe, expect, test } from 'bun:test';
import { parse } from 'yaml';
import { yamlComment, yamlText } from './yaml-text.ts';

/** Characters that end a line or are invalid in YAML 1.1, or that terminals interpret. */
const SIGNS = [
  '\u2028',
  '\u2029',
  '\u0085',
  '\u009B',
  '\u007F',
  '\uFEFF',
  '\uFFFE',
  '\u202E',
  '\r',
  '\u001B',
];

/** Named by code point: the character itself in a test name would make the XML report invalid. */
const named = SIGNS.map(
  (sign) => [sign.charCodeAt(0).toString(16).padStart(4, '0'), sign] as const,
);

describe.each(named)('the sign U+%s', (_number, sign) => {
  test.each([
    ['in a value', { image: `x${sign}kind: Secret` }],
    ['in a key', { [`x${sign}kind`]: 'y' }],
    ['in lines', { text: `first\nsecond${sign}kind: Secret\n` }],
    ['in a list', [`x${sign}- y`, { a: [`${sign}b`] }]],
  ])('%s is escaped, and parses to the same value', (_, value) => {
    const text = yamlText(value);

    expect(text).not.toContain(sign);
    expect(parse(text)).toEqual(value);
  });

  test('does not end a comment', () => {
    expect(yamlComment(`object x${sign}kind: Secret`)).not.toContain(sign);
  });
});

test('keeps the lines of a text', () => {
  expect(yamlText({ text: 'a\tx\nb\n' })).toBe('text: |\n  a\tx\n  b\n');
});

test('quotes strings that YAML 1.1 would parse as a boolean or a number', () => {
  expect(yamlText({ a: 'yes', b: '1_000' })).toBe('a: "yes"\nb: "1_000"\n');
});

test('a comment has one line', () => {
  expect(yamlComment('a\nb: c')).toBe('# a\\u000ab: c\n');
});
