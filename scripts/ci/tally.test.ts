import { expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sentence, tallyReport, tallyStep } from './tally.ts';

const mixed = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="6" failures="1" errors="1" skipped="2">
  <testsuite name="a"><testsuite name="nested">
    <testcase name="passes" time="0.1" />
    <testcase name="a &gt; b > <c"></testcase>
    <testcase name="fails"><failure type="AssertionError" message="x > y">text</failure></testcase>
    <testcase name="throws"><error message="boom"/><failure/></testcase>
    <testcase name="skipped"><skipped /></testcase>
    <testcase name="to do"><skipped message="TODO" /></testcase>
  </testsuite></testsuite>
</testsuites>`;

test('counts each test case once, and errors as failures', () => {
  expect(tallyReport(mixed)).toEqual({ passed: 2, failed: 2, skipped: 2 });
});

test('treats the output of a test as text, not as tags', () => {
  const xml = `<testsuite><!-- <testcase/> --><testcase name="prints">
    <system-out><![CDATA[<failure/></testcase><testcase>]]></system-out>
  </testcase></testsuite>`;

  expect(tallyReport(xml)).toEqual({ passed: 1, failed: 0, skipped: 0 });
});

test('counts a failure outside any case', () => {
  const xml = '<testsuite><error message="set-up"/><testcase name="passes"/></testsuite>';

  expect(tallyReport(xml)).toEqual({ passed: 1, failed: 1, skipped: 0 });
});

test('reads reports of Bun', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'snicket-tally-'));
  await Bun.write(
    join(directory, 'x.test.ts'),
    `import { test } from 'bun:test';
     test('passes, with "quotes" & <angles>', () => {});
     test('fails', () => { throw new Error('</testcase> ]]>'); });
     test.skip('is skipped', () => {});`,
  );
  const report = join(directory, 'report.xml');

  const run = Bun.spawnSync(
    [process.execPath, 'test', '--reporter=junit', `--reporter-outfile=${report}`],
    { cwd: directory },
  );
  const xml = await Bun.file(report).text();
  await rm(directory, { recursive: true });

  expect(run.exitCode).toBe(1);
  expect(tallyReport(xml)).toEqual({ passed: 1, failed: 1, skipped: 1 });
});

test('reports every failed step', () => {
  const green = { xml: '<testsuites><testcase name="passes"/></testsuites>' };
  const cut = { xml: '<testsuites><testcase name="passes"/>' };
  const empty = { xml: '<testsuites></testsuites>' };

  expect(tallyStep({ exitCode: 0, report: 'none' }).failed).toBe(0);
  expect(tallyStep({ exitCode: 2, report: 'none' }).failed).toBe(1);
  expect(tallyStep({ exitCode: 0, report: 'missing' }).failed).toBe(1);
  expect(tallyStep({ exitCode: 2, report: 'missing' }).failed).toBe(1);
  expect(tallyStep({ exitCode: 1, report: green })).toEqual({ passed: 1, failed: 1, skipped: 0 });
  expect(tallyStep({ exitCode: 0, report: cut }).failed).toBe(1);
  expect(tallyStep({ exitCode: 0, report: empty }).failed).toBe(1);
  expect(tallyStep({ exitCode: 1, report: { xml: mixed } }).failed).toBe(2);
});

test('mentions skipped tests only if there are any', () => {
  expect(sentence({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed');
  expect(sentence({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped');
});
