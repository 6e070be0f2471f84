import { afterEach, beforeEach, expect, test } from 'bun:test';
import { appendFile, chmod, copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

// These tests use a fake npm, because they check when and how often it is called. Every fresh clone tests that the
// real `npm ci` accepts the lockfile.

/** Like `npm ci`, it empties node_modules first. If there is a FIFO `gate`, it then waits for it. */
const npm = `#!/bin/sh
echo "npm $*" >>calls
rm -rf node_modules
if [ -p gate ]; then read -r _ <gate; fi
if [ -e broken ]; then echo 'npm error E404'; exit 1; fi
mkdir -p node_modules/.bin
echo '#!/bin/sh' >node_modules/.bin/bun
chmod +x node_modules/.bin/bun
`;

let tree: string;

beforeEach(async () => {
  tree = await mkdtemp(join(tmpdir(), 'snicket-install-'));
  await mkdir(join(tree, 'scripts'));
  await copyFile(resolve(import.meta.dir, 'install'), join(tree, 'scripts/install'));
  await Bun.write(join(tree, 'package-lock.json'), 'one');
  await Bun.write(join(tree, 'bin/npm'), npm);
  await chmod(join(tree, 'bin/npm'), 0o755);
});

afterEach(() => rm(tree, { recursive: true }));

function start(path = `${join(tree, 'bin')}:${process.env['PATH']}`) {
  return Bun.spawn(['/bin/sh', 'scripts/install'], {
    cwd: tree,
    env: { PATH: path },
    stderr: 'pipe',
  });
}

async function install(path?: string) {
  const run = start(path);
  const [stdout, stderr] = await Promise.all([run.stdout.text(), run.stderr.text()]);
  return { exitCode: await run.exited, stdout, stderr };
}

async function npmCalls(): Promise<number> {
  const calls = Bun.file(join(tree, 'calls'));
  return (await calls.exists()) ? (await calls.text()).split('\n').length - 1 : 0;
}

test('installs once with one line of output, and is silent afterwards', async () => {
  const first = await install();
  const second = await install();

  expect(first.stderr).toMatch(/^snicket: installing dependencies \.\.\. done in \d+ s\n$/);
  expect(first.stdout).toBe('');
  expect(second).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  expect(await npmCalls()).toBe(1);
});

test('installs again when the lockfile has changed', async () => {
  await install();
  await Bun.write(join(tree, 'package-lock.json'), 'two');

  const { exitCode } = await install();

  expect(exitCode).toBe(0);
  expect(await npmCalls()).toBe(2);
});

test('prints the output of npm on failure, and tries again next time', async () => {
  await Bun.write(join(tree, 'broken'), '');
  const first = await install();
  await rm(join(tree, 'broken'));

  const second = await install();

  expect(first.stderr).toContain('npm error E404');
  expect(first.exitCode).toBe(1);
  expect(second.exitCode).toBe(0);
});

test('names the missing tool', async () => {
  await rm(join(tree, 'bin/npm'));
  for (const tool of ['cmp', 'dirname', 'node']) {
    await symlink(Bun.which(tool) ?? '/bin/false', join(tree, 'bin', tool));
  }

  const { exitCode, stderr } = await install(join(tree, 'bin'));

  expect(stderr).toStartWith('snicket: npm not found. Install Node.js');
  expect(exitCode).toBe(1);
});

test.skipIf(Bun.which('flock') === null)('a second installation waits for the first', async () => {
  Bun.spawnSync(['mkfifo', join(tree, 'gate')]);
  const first = start();
  await until(async () => (await npmCalls()) === 1);

  const second = start();
  const waiting = await second.stderr.getReader().read();
  await appendFile(join(tree, 'gate'), 'open\n');

  expect(new TextDecoder().decode(waiting.value)).toContain('waiting for another install');
  expect(await first.exited).toBe(0);
  expect(await second.exited).toBe(0);
  expect(await npmCalls()).toBe(1);
});

/** Polls until the condition holds; the test's own timeout is the deadline. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(5);
}
