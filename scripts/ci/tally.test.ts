import { expect, test } from 'bun:test';
import { chmod, copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sentence, tallyReport, tallyStep } from './tally.ts';

const root = resolve(import.meta.dir, '..');

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

test('counts each case once, errors and failures alike', () => {
  expect(tallyReport(mixed)).toEqual({ passed: 2, failed: 2, skipped: 2 });
});

test('takes what a test printed for text, not for tags', () => {
  const xml = `<testsuite><!-- <testcase/> --><testcase name="prints">
    <system-out><![CDATA[<failure/></testcase><testcase>]]></system-out>
  </testcase></testsuite>`;

  expect(tallyReport(xml)).toEqual({ passed: 1, failed: 0, skipped: 0 });
});

test('counts a failure outside any case', () => {
  const xml = '<testsuite><error message="set-up"/><testcase name="passes"/></testsuite>';

  expect(tallyReport(xml)).toEqual({ passed: 1, failed: 1, skipped: 0 });
});

test('reads what Bun itself writes', async () => {
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

test('lets no failed step pass unseen', () => {
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

test('speaks of skipped tests only if there are some', () => {
  expect(sentence({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed');
  expect(sentence({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped');
});

/** Runs .ci/run in a tree whose Makefile has these recipes. */
async function ci(recipes: { lint: string; test: string; e2e: string }) {
  const tree = await mkdtemp(join(tmpdir(), 'snicket-ci-'));
  await mkdir(join(tree, '.ci'));
  await copyFile(join(root, '.ci/run'), join(tree, '.ci/run'));
  await chmod(join(tree, '.ci/run'), 0o755);
  await Bun.write(join(tree, 'scripts/install'), ':\n');
  await copyFile(join(root, 'scripts/tally.ts'), join(tree, 'scripts/tally.ts'));
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  // A report of an earlier run lies around.
  await Bun.write(join(tree, 'build/e2e-edges.xml'), '<testcase name="stale"/>');
  await Bun.write(
    join(tree, 'Makefile'),
    `lint:\n\t${recipes.lint}\ntest:\n\t${recipes.test}\ne2e:\n\t${recipes.e2e}\n`,
  );

  // The variables of the `make test` that we may be under are none of its business.
  const env = { ...process.env, MAKEFLAGS: '' };
  const run = Bun.spawnSync(['.ci/run'], { cwd: tree, env });
  await rm(tree, { recursive: true });
  return { exitCode: run.exitCode, lastLine: run.stdout.toString().trimEnd().split('\n').at(-1) };
}

const testPasses = `echo '<testsuites><testcase name="a"/></testsuites>' > build/test.xml`;
const e2ePasses = `echo '<testsuites><testcase name="b"/></testsuites>' > build/e2e$(if $(T),-$(T)).xml`;

test('CI sums up all steps', async () => {
  const { exitCode, lastLine } = await ci({ lint: 'true', test: testPasses, e2e: e2ePasses });

  expect(lastLine).toBe('6 passed, 0 failed');
  expect(exitCode).toBe(0);
});

test('CI goes on after a failing lint and fails in the end', async () => {
  const { exitCode, lastLine } = await ci({ lint: 'false', test: testPasses, e2e: e2ePasses });

  expect(lastLine).toBe('6 passed, 1 failed');
  expect(exitCode).toBe(1);
});

test('CI fails if a step leaves no report, whatever an earlier run left', async () => {
  const writesOneOnly = `test -n "$(T)" || echo '<testsuites><testcase name="b"/></testsuites>' > build/e2e.xml`;

  const { exitCode, lastLine } = await ci({ lint: 'true', test: testPasses, e2e: writesOneOnly });

  expect(lastLine).toBe('2 passed, 4 failed');
  expect(exitCode).toBe(1);
});
