import { expect, test } from 'bun:test';
import { wrapWords, wrapSentence } from './wrap.ts';

test('wraps words, with a separate line for a word that is too wide', () => {
  expect(wrapWords(['a', 'bc', 'd', 'efghij', 'k'], 4)).toEqual(['a bc', 'd', 'efghij', 'k']);
  expect(wrapWords([], 4)).toEqual(['']);
  // Two columns each.
  expect(wrapWords(['東京', '大阪'], 8)).toEqual(['東京', '大阪']);
});

test('leaves a sentence that fits unchanged', () => {
  expect(wrapSentence('error: a  b', 11)).toBe('error: a  b');
});

test('aligns each line with the start of the sentence', () => {
  expect(wrapSentence('error: one two three', 14)).toBe('error: one two\n       three');
  expect(wrapSentence('  one two three', 10)).toBe('  one two\n  three');
  expect(wrapSentence('there is no Exposure', 12)).toBe('there is no\nExposure');
});

test.each([
  ['a command', 'run: chmod 0700 /var/lib/snicket; then start', 'chmod 0700 /var/lib/snicket;'],
  [
    'a command at the end',
    'make one first: kubectl explain edge.spec',
    'kubectl explain edge.spec',
  ],
  [
    'a command in parentheses',
    'do it (first: kubectl apply -k deploy)',
    'kubectl apply -k deploy)',
  ],
  ['text in backticks', 'give what `snicket run` has, and', '`snicket run`'],
  ['a path in quotes', "for it write 'my folder'/*.yaml", "'my folder'/*.yaml"],
  ['a long path', 'see /a/path/that/is/far/too/long/for/it', '/a/path/that/is/far/too/long/for/it'],
])('never breaks %s', (_, text, whole) => {
  for (let columns = 8; columns < 60; columns++) {
    const lines = wrapSentence(`error: ${text}`, columns).split('\n');

    expect(lines.some((line) => line.includes(whole))).toBe(true);
    expect(lines.map((line) => line.trim()).join(' ')).toBe(`error: ${text}`);
  }
});

test("does not treat the apostrophe in the operator's Deployment as a quote", () => {
  const text = "the operator's own is not the tenant's";

  expect(wrapSentence(text, 20)).toBe("the operator's own\nis not the tenant's");
});
