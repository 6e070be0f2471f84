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
    ['a key twice', 'a: 1\nb: {c: 1, c: 2}\n', 'a.yaml:2:11: the same name twice in one mapping; '],
    ['a merge of a text', 'a: 1\n<<: b\n', 'a.yaml:1:1: << with what is no mapping; '],
    [
      'an alias of nothing',
      'a: *b\n',
      'a.yaml:1:1: an alias (*) of what has no name (&) before it',
    ],
    ['a tag of somebody', 'a: 1\nb: !mine 2\n', 'a.yaml:2:4: a tag that is not known; '],
    ['a tab', 'a:\n\tb: 1\n', 'a.yaml:2:1: a tab where the line begins; indent with spaces'],
    ['a list that goes on', 'a: [1\nb: 2\n', 'a.yaml:1:4: this [ is not closed; add the ]; '],
    ['a mapping that goes on', 'a: 1\nb: { c: 1\nd: 2\n', 'a.yaml:2:4: this { is not closed; '],
    ['the inner one of two', 'a: {b: [1, 2\n  c: 3\nd: 4\n', 'a.yaml:1:8: this [ is not closed; '],
    ['one with the sign of the other', 'a: {b: [1}\nc: 1\n', 'a.yaml:1:8: this [ is not closed; '],
    ['JSON that goes on', '{"a": {"b": 1,\n "c": [2\n}\n', 'a.yaml:2:7: this [ is not closed; '],
    [
      'one too far left',
      'a:\n  b: {\n    c: 1\n}\n',
      'a.yaml:2:6: this { is not closed; add the }; ',
    ],
    ['one that is not opened', 'a: {b: 1}}\n', 'a.yaml:1:10: this does not belong here; '],
    [
      'a quote that goes on',
      'a: "1\n',
      'a.yaml:1:4: this quote is not closed; add it where the text',
    ],
    ['a quote that does not end', 'a: "1\\"\nb: 2\n', 'a.yaml:1:4: this quote is not closed; '],
    ['two quotes for one', "a: 'it''\nb: 2\n", 'a.yaml:1:4: this quote is not closed; '],
    ['a fault before it', 'a: @b\nc: {d\n', 'a.yaml:1:4: a value that begins with @, '],
    ['a colon in a value', 'a: b: c\n', 'a.yaml:1:4: a name and its value within a value; '],
    ['a line too far right', 'a: b\n  c: d\n', 'a.yaml:1:4: a name and its value within a value; '],
    [
      'many aliases',
      `a: &a [1, 2]\nb: [${'*a, '.repeat(200)}]\n`,
      'a.yaml:1:1: more than 100 aliases; write out what they stand for',
    ],
  ])('%s', (_what, text, fault) => {
    const { values, faults } = read(text);

    expect(values).toEqual([]);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toStartWith(fault);
  });
});

test.each([
  ['|hunter2', 'this does not belong here; '],
  ['>hunter2', 'this does not belong here; '],
  ['!e!hunter2', 'a tag that is not known; put quotes around what begins with !'],
  ['!<hunter2', 'a tag that is not known; put quotes around what begins with !'],
  ['*hunter2', 'an alias (*) of what has no name (&) before it; '],
  ['"\\xhunter2"', 'that stands for nothing here; '],
  ['@hunter2', 'a value that begins with @, ` or %; put quotes around it'],
])('does not quote the value %s', (value, sentence) => {
  const { faults } = read(`password: ${value}\n`);

  expect(faults[0]).toContain(sentence);
  expect(faults.join()).not.toContain('hu');
});

describe('stops early on hostile input', () => {
  test.each([
    ['lists', '['.repeat(50_000), 'nested more than 200 deep'],
    ['mappings', '{a: '.repeat(50_000), 'nested more than 200 deep'],
    ['lists of one line each', '- '.repeat(50_000), 'nested more than 200 deep'],
    ['lines', '\n'.repeat(3_000), 'more than 2000 words and signs in one file'],
    ['documents', 'a: b\n---\n'.repeat(200), 'more than 100 objects in one file'],
  ])('on many %s', (_what, text, sentence) => {
    const { values, faults } = read(text, { tokens: 2_000, documents: 100 });

    expect(values).toEqual([]);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(sentence);
  });

  test('and parses a mapping of ten thousand keys', () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => `k${index}: 1\n`);

    const { values, faults } = read(keys.join(''));

    expect(faults).toEqual([]);
    expect(Object.keys(values[0] as object)).toHaveLength(10_000);
  });
});
