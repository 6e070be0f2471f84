import { expect, test } from 'bun:test';
import { failedTests } from './failed-tests.ts';

test('lists the failed tests with their files', () => {
  const xml = `<testsuites>
    <testcase name="passes" file="a.test.ts" time="0.1" />
    <testcase name="fails" file="a.test.ts"><failure type="AssertionError">text</failure></testcase>
    <testcase name="is skipped" file="b.test.ts"><skipped /></testcase>
    <testcase name="throws" file="b.test.ts"><error message="boom"/></testcase>
  </testsuites>`;

  expect(failedTests(xml)).toEqual(['a.test.ts: fails', 'b.test.ts: throws']);
});
