import { expect, test } from 'bun:test';
import { slowestFiles, summaryText } from './summary.ts';

const REPORT = `<testsuites name="bun test" tests="3" time="10.7">
  <testsuite name="src/a.test.ts" file="src/a.test.ts" tests="2" failures="0" time="0.35" hostname="vm">
    <testsuite name="a group" file="src/a.test.ts" line="4" tests="1" time="0.3" hostname="vm"></testsuite>
  </testsuite>
  <testsuite name="src/b.test.ts" file="src/b.test.ts" tests="1" failures="0" time="9.25" hostname="vm"></testsuite>
</testsuites>`;

test('the slowest files come first, each once', () => {
  expect(slowestFiles(REPORT)).toEqual([
    { file: 'src/b.test.ts', seconds: 9.25 },
    { file: 'src/a.test.ts', seconds: 0.35 },
  ]);
  expect(slowestFiles(REPORT, 1)).toHaveLength(1);
});

test('the summary ends with the count and the time', () => {
  const text = summaryText(
    { passed: 3, failed: 0, skipped: 0 },
    { seconds: 11, cpuSeconds: 19 },
    slowestFiles(REPORT),
  );

  expect(text).toBe(`Slowest files:
     9.3 s  src/b.test.ts
     0.3 s  src/a.test.ts
3 passed, 0 failed in 11 s (CPU 19 s)`);
});
