import { expect, test } from 'bun:test';
import { tallyReport } from '../../scripts/ci/tally.ts';
import { durationsTable, mergedReport } from './report.ts';
import type { Outcome } from './run-scenarios.ts';
import { scenario } from './testing/scenario.ts';

function outcome(
  name: string,
  result: Outcome['result'],
  overrides: Partial<Outcome> = {},
): Outcome {
  return { scenario: scenario(name), result, seconds: 7, ...overrides };
}

test('one report contains the tests of all scenarios', () => {
  const xml = '<?xml version="1.0"?>\n<testsuites tests="1"><testcase name="x"/></testsuites>\n';

  const merged = mergedReport([
    { outcome: outcome('a', 'passed'), xml },
    { outcome: outcome('b', 'passed'), xml },
  ]);

  expect(tallyReport(merged)).toEqual({ passed: 2, failed: 0, skipped: 0 });
  expect(merged).toEndWith('</testsuites>\n');
});

test('a scenario that did not run counts as skipped, and a scenario without a report as failed', () => {
  const merged = mergedReport([
    { outcome: outcome('a', 'skipped', { reason: 'no "time" <left>' }), xml: undefined },
    { outcome: outcome('b', 'failed'), xml: undefined },
    { outcome: outcome('c', 'failed'), xml: '<testsuites><testcase name="cut off"' },
  ]);

  expect(tallyReport(merged)).toEqual({ passed: 0, failed: 2, skipped: 1 });
});

test('a scenario that exits with an error counts as failed, even without a failed test in its report', () => {
  const xml = '<testsuites><testcase name="x"/></testsuites>';

  const merged = mergedReport([{ outcome: outcome('a', 'failed'), xml }]);

  expect(tallyReport(merged)).toEqual({ passed: 1, failed: 1, skipped: 0 });
});

test('ignores the report of an earlier run for a scenario that did not run', () => {
  const xml = '<testsuites><testcase name="x"/></testsuites>';

  const merged = mergedReport([{ outcome: outcome('a', 'skipped', { reason: 'no time' }), xml }]);

  expect(tallyReport(merged)).toEqual({ passed: 0, failed: 0, skipped: 1 });
});

test('the table lists the longest scenario first', () => {
  const table = durationsTable([
    outcome('short', 'passed', { seconds: 3 }),
    outcome('long', 'failed', { seconds: 120 }),
    outcome('none', 'skipped', { seconds: 0, reason: 'no time left' }),
  ]);

  expect(table).toBe(`SCENARIO   TIME  RESULT
long      120 s  failed
short       3 s  passed
none          -  skipped: no time left
`);
});
