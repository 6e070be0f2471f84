import { expect, test } from 'bun:test';
import { TestOutput } from './test-output.ts';

function shownLines(lines: readonly string[]): readonly string[] {
  const output = new TestOutput();
  return lines.flatMap((line) => output.take(line));
}

test('prints failures below the name of their file, and omits passed tests', () => {
  const lines = [
    'bun test v1.4.4 (38afee6c8) 2x PARALLEL',
    '',
    'src/a.test.ts:',
    '(pass) works [0.15ms]',
    '',
    'src/b.test.ts:',
    '(pass) works too [0.15ms]',
    'error: expect(received).toBe(expected)',
    '(fail) does not [1ms]',
    '(skip) another',
    '',
    '1 tests skipped:',
    '(skip) another',
    '',
    '1 tests failed:',
    '(fail) does not [1ms]',
    '',
    ' 2 pass',
    ' 1 fail',
    ' 14 snapshots, 54087 expect() calls',
    'Ran 4 tests across 2 files. [10.54s]',
  ];

  expect(shownLines(lines)).toEqual([
    '',
    'src/b.test.ts:',
    'error: expect(received).toBe(expected)',
    '(fail) does not [1ms]',
  ]);
});

test('counts tests and files', () => {
  const output = new TestOutput();
  for (const line of ['src/a.test.ts:', '(pass) a', '(pass) b', '(fail) c']) output.take(line);

  expect(output.progress(5)).toBe('1 of 5 files, 2 passed, 1 failed');
});

test('finds files with an error outside their tests', () => {
  const output = new TestOutput();
  const lines = ['src/a.test.ts:', '(pass) a', 'src/b.test.ts:', '# Unhandled error between tests'];
  for (const line of [...lines, 'error: Cannot find module']) output.take(line);

  expect([...output.faultyFiles]).toEqual(['src/b.test.ts']);
  expect(output.progress(2)).toBe('2 of 2 files, 1 passed, 1 failed');
});
