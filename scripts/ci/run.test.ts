/** Runs `.ci/run` in a temporary tree whose Makefile has the recipes of the test. */
import { expect, test } from 'bun:test';
import { chmod, cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dir, '../..');

interface Recipes {
  readonly lint: string;
  readonly test: string;
  readonly e2e: string;
  readonly parts: string;
}

const PASSING: Recipes = {
  lint: 'true',
  test: `echo '<testsuites><testcase name="a"/></testsuites>' > build/test.xml`,
  e2e: `echo '<testsuites><testcase name="b"/></testsuites>' > build/e2e-all.xml`,
  parts: 'true',
};

async function ci(recipes: Partial<Recipes> = {}) {
  const { lint, test: unit, e2e, parts } = { ...PASSING, ...recipes };
  const tree = await mkdtemp(join(tmpdir(), 'snicket-ci-'));
  await mkdir(join(tree, '.ci'));
  await cp(join(root, '.ci/run'), join(tree, '.ci/run'));
  await chmod(join(tree, '.ci/run'), 0o755);
  await Bun.write(join(tree, 'scripts/install'), ':\n');
  await cp(join(root, 'scripts/ci'), join(tree, 'scripts/ci'), { recursive: true });
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  // A report of an earlier run.
  await Bun.write(join(tree, 'build/e2e-all.xml'), '<testcase name="stale"/>');
  await Bun.write(
    join(tree, 'Makefile'),
    `lint:\n\t${lint}\ntest:\n\t${unit}\ne2e-all:\n\t${e2e}\nparts:\n\t${parts}\n`,
  );

  // Removes the variables of a `make test` that runs this test.
  const env = { ...process.env, MAKEFLAGS: '' };
  const run = Bun.spawnSync(['.ci/run'], { cwd: tree, env });
  await rm(tree, { recursive: true });
  const lines = run.stdout.toString().trimEnd().split('\n');
  return { exitCode: run.exitCode, lines, lastLine: lines.at(-1) };
}

test('CI counts the tests of all steps, and lists their durations', async () => {
  // A build that still runs at the end would be terminated, so lint waits until CI has noticed the end of `make parts`.
  const pid = 'build/parts.pid';
  const isGone = `[ -s ${pid} ] && ! kill -0 $$(cat ${pid}) 2>/dev/null`;
  const { exitCode, lines, lastLine } = await ci({
    parts: `echo $$PPID > ${pid}`,
    lint: `until ${isGone}; do sleep 0.01; done`,
  });

  expect(lastLine).toBe('2 passed, 0 failed');
  expect(exitCode).toBe(0);
  for (const step of ['lint', 'test', 'e2e-all']) {
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${step} +\\d+ s .* passed$`)));
  }
  expect(lines).toContainEqual(expect.stringMatching(/^parts +\d+ s .*built beside the tests/));
});

test('CI continues after a lint failure, and fails at the end', async () => {
  const { exitCode, lastLine } = await ci({ lint: 'false' });

  expect(lastLine).toBe('2 passed, 1 failed');
  expect(exitCode).toBe(1);
});

test('CI fails if a step writes no report, despite a report of an earlier run', async () => {
  const { exitCode, lastLine } = await ci({ e2e: 'true' });

  expect(lastLine).toBe('1 passed, 1 failed');
  expect(exitCode).toBe(1);
});

test('CI lists the skipped scenarios before the last line', async () => {
  const summary = [
    { name: 'doctor', result: 'passed', seconds: 70 },
    { name: 'edges', result: 'skipped', reason: 'no time left', seconds: 0 },
  ];
  const e2e = `${PASSING.e2e}; test -n "$(OPTIONAL_BEFORE)" && echo '${JSON.stringify(summary)}' > build/e2e-all.json`;

  const { exitCode, lines } = await ci({ e2e });

  expect(lines.slice(-2)).toEqual(['left out: edges (no time left)', '2 passed, 0 failed']);
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}e2e doctor +70 s .*passed$/));
  expect(exitCode).toBe(0);
});

test.each(['', 'null', '{}', '[null]', '[{"name"'])(
  'CI prints the count as the last line even if the summary of scenarios is %j',
  async (summary) => {
    const e2e = `${PASSING.e2e}; printf %s '${summary}' > build/e2e-all.json`;

    const { exitCode, lastLine } = await ci({ e2e });

    expect(lastLine).toBe('2 passed, 0 failed');
    expect(exitCode).toBe(0);
  },
);

test('CI fails if a report cannot be read', async () => {
  const { exitCode, lastLine } = await ci({ e2e: 'mkdir build/e2e-all.xml' });

  expect(lastLine).toBe('1 passed, 1 failed');
  expect(exitCode).toBe(1);
});

test('CI prints the count when it is interrupted', async () => {
  // The parent process of make is CI itself.
  const unit = `kill -TERM $$(ps -o ppid= -p $$PPID); exec sleep 1000`;

  const { exitCode, lines, lastLine } = await ci({ test: unit });

  expect(lines).toContainEqual(
    expect.stringMatching(/^e2e-all +- .*not run, because of an interrupt$/),
  );
  expect(lastLine).toBe('0 passed, 2 failed');
  expect(exitCode).toBe(1);
});

test('CI does not wait for builds that only skipped scenarios need', async () => {
  const { exitCode, lastLine } = await ci({ parts: 'sleep 1000' });

  expect(lastLine).toBe('2 passed, 0 failed');
  expect(exitCode).toBe(0);
});
