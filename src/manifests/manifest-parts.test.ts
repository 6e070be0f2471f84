import { describe, expect, test } from 'bun:test';
import { manifestParts, locationText } from './manifest-parts.ts';
import { UNBOUNDED } from './yaml-documents.ts';

function read(text: string, bounds = UNBOUNDED) {
  const { parts, faults } = manifestParts({ name: 'a.yaml', text }, bounds);
  return {
    values: parts.map(({ value }) => value),
    faults: faults.map(({ location, sentence }) => `${locationText(location)}: ${sentence}`),
  };
}

test('parses several documents, aliases and merges', () => {
  expect(read('a: &a {b: 1}\nc: *a\n---\nd: &d {e: 2}\nf: {<<: *d, g: 3}\n')).toEqual({
    values: [
      { a: { b: 1 }, c: { b: 1 } },
      { d: { e: 2 }, f: { e: 2, g: 3 } },
    ],
    faults: [],
  });
});

describe('reports an error with its location', () => {
  test.each([
    ['a duplicate key', 'a: 1\nb: {c: 1, c: 2}\n', 'a.yaml:2:11: duplicate key: '],
    ['a merge of a string', 'a: 1\n<<: b\n', 'a.yaml:1:1: merge key << without a mapping: '],
    ['an unresolved alias', 'a: *b\n', 'a.yaml:1:1: alias (*) without a preceding anchor (&)'],
    ['an unknown tag', 'a: 1\nb: !mine 2\n', 'a.yaml:2:4: unknown tag: '],
    ['a tab', 'a:\n\tb: 1\n', 'a.yaml:2:1: tab in the indentation: use spaces'],
    ['an unclosed list', 'a: [1\nb: 2\n', 'a.yaml:1:4: unclosed [: add ]; '],
    ['an unclosed mapping', 'a: 1\nb: { c: 1\nd: 2\n', 'a.yaml:2:4: unclosed {: '],
    ['the inner one of two brackets', 'a: {b: [1, 2\n  c: 3\nd: 4\n', 'a.yaml:1:8: unclosed [: '],
    ['a mismatched bracket', 'a: {b: [1}\nc: 1\n', 'a.yaml:1:8: unclosed [: '],
    ['unclosed JSON', '{"a": {"b": 1,\n "c": [2\n}\n', 'a.yaml:2:7: unclosed [: '],
    [
      'a bracket indented too little',
      'a:\n  b: {\n    c: 1\n}\n',
      'a.yaml:2:6: unclosed {: add }; ',
    ],
    ['an unopened bracket', 'a: {b: 1}}\n', 'a.yaml:1:10: unexpected content: '],
    ['an unclosed quote', 'a: "1\n', 'a.yaml:1:4: unclosed quote: add the closing quote'],
    ['a quote that does not end', 'a: "1\\"\nb: 2\n', 'a.yaml:1:4: unclosed quote: '],
    ['two single quotes as an escaped quote', "a: 'it''\nb: 2\n", 'a.yaml:1:4: unclosed quote: '],
    ['a fault before it', 'a: @b\nc: {d\n', 'a.yaml:1:4: value begins with @, '],
    ['a colon in a value', 'a: b: c\n', 'a.yaml:1:4: nested mapping in a value: '],
    [
      'a line with too much indentation',
      'a: b\n  c: d\n',
      'a.yaml:1:4: nested mapping in a value: ',
    ],
    [
      'many aliases',
      `a: &a [1, 2]\nb: [${'*a, '.repeat(200)}]\n`,
      'a.yaml:1:1: more than 100 aliases: replace them with their values',
    ],
  ])('%s', (_, text, fault) => {
    const { values, faults } = read(text);

    expect(values).toEqual([]);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toStartWith(fault);
  });
});

test.each([
  ['|hunter2', 'unexpected content: '],
  ['>hunter2', 'unexpected content: '],
  ['!e!hunter2', 'unknown tag: quote a value that begins with !'],
  ['!<hunter2', 'unknown tag: quote a value that begins with !'],
  ['*hunter2', 'alias (*) without a preceding anchor (&): '],
  ['"\\xhunter2"', 'invalid escape sequence: '],
  ['@hunter2', 'value begins with @, ` or %: quote it'],
])('does not quote the value %s', (value, sentence) => {
  const { faults } = read(`password: ${value}\n`);

  expect(faults[0]).toContain(sentence);
  expect(faults.join()).not.toContain('hu');
});

describe('stops early on hostile input', () => {
  test.each([
    ['lists', '['.repeat(50_000), 'nested more than 200 levels deep'],
    ['mappings', '{a: '.repeat(50_000), 'nested more than 200 levels deep'],
    ['nested lists on separate lines', '- '.repeat(50_000), 'nested more than 200 levels deep'],
    ['lines', '\n'.repeat(3_000), 'more than 2000 tokens in one file'],
    ['documents', 'a: b\n---\n'.repeat(200), 'more than 100 objects in one file'],
  ])('on many %s', (_, text, sentence) => {
    const { values, faults } = read(text, { tokens: 2_000, documents: 100 });

    expect(values).toEqual([]);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(sentence);
  });

  test('but parses a mapping with ten thousand keys', () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => `k${index}: 1\n`);

    const { values, faults } = read(keys.join(''));

    expect(faults).toEqual([]);
    expect(Object.keys(values[0] as object)).toHaveLength(10_000);
  });
});
