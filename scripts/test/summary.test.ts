import { expect, test } from 'bun:test';
import { slowestFiles, summaryText, withFaultyFiles } from './summary.ts';

const REPORT = `<testsuites name="bun test" tests="3" time="10.7">
  <testsuite name="src/a.test.ts" file="src/a.test.ts" tests="2" failures="0" time="0.35" hostname="vm">
    <testsuite name="a group" file="src/a.test.ts" line="4" tests="1" time="0.3" hostname="vm"></testsuite>
  </testsuite>
  <testsuite name="src/b.test.ts" file="src/b.test.ts" tests="1" failures="0" time="9.25" hostname="vm"></testsuite>
</testsuites>`;
const FILE_MS = { 'src/a.test.ts': 350, 'src/b.test.ts': 9250, 'src/another.test.ts': 20_000 };

test('the slowest files come first, each once', () => {
  expect(slowestFiles(REPORT, FILE_MS)).toEqual([
    { file: 'src/b.test.ts', seconds: 9.25 },
    { file: 'src/a.test.ts', seconds: 0.35 },
  ]);
  expect(slowestFiles(REPORT, FILE_MS, 1)).toHaveLength(1);
});

test('the summary of a passed run has the slowest files, the count and the duration', () => {
  const report = REPORT.replace('</testsuites>', '<testcase name="a" /></testsuites>');

  expect(summaryText(report, { seconds: 11, cpuSeconds: 19, fileMs: FILE_MS })).toBe(`
Slowest files:
     9.3 s  src/b.test.ts
     0.3 s  src/a.test.ts
1 passed, 0 failed in 11 s (CPU 19 s)`);
});

test('the summary of a failed run lists failures and files that do not load', () => {
  const report = withFaultyFiles(
    '<testsuites><testcase name="a" file="src/a.test.ts"><failure /></testcase></testsuites>',
    ['src/b.test.ts'],
  );

  expect(summaryText(report, { seconds: 11, cpuSeconds: 19, fileMs: FILE_MS })).toBe(`
Failed:
  src/a.test.ts: a
  src/b.test.ts: has no error outside its tests
0 passed, 2 failed in 11 s (CPU 19 s)`);
});
