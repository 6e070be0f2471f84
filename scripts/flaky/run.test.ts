/** Tests runs of a suite that waits until the test lets it pass. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf, isRunning } from '../../world/machine/identity.ts';
import { waitFor } from '../../world/wait.ts';

const RUN = join(import.meta.dir, 'run.ts');
const WAIT = { deadlineMs: 200_000 };
const SUITE = `
import { watch, existsSync, writeFileSync } from 'node:fs';
import { test } from 'bun:test';
test('waits', async () => {
  const { promise, resolve } = Promise.withResolvers();
  const check = () => { if (existsSync(import.meta.dir + '/go')) resolve(); };
  watch(import.meta.dir, check);
  writeFileSync(import.meta.dir + '/waits', String(process.pid));
  check();
  await promise;
});
`;

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snicket-flaky-'));
  await Bun.write(join(folder, 'suite.test.ts'), SUITE);
});

afterEach(async () => rm(folder, { recursive: true }));

const argv = () => [
  process.execPath,
  RUN,
  '--runs=1',
  '--busy-processes=0',
  `--folder=${folder}`,
  join(folder, 'suite.test.ts'),
];
const lock = () => readFileSync(join(folder, 'lock'), 'utf8');
const report = () => readFileSync(join(folder, 'report.txt'), 'utf8');
const letPass = async () => Bun.write(join(folder, 'go'), '');
/** Resolves with the process of the suite when the suite waits. */
const waits = async () =>
  waitFor(
    'the suite waits',
    () => {
      const path = join(folder, 'waits');
      return existsSync(path) && identityOf(Number(readFileSync(path, 'utf8')));
    },
    WAIT,
  );

test('continues when the shell that started it ends with SIGHUP for its process group', async () => {
  const shell = Bun.spawn(['sh', '-c', '"$@" & wait', 'sh', ...argv()], {
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
  });
  await waits();
  process.kill(-shell.pid, 'SIGHUP');
  await shell.exited;
  await letPass();

  await waitFor('the run ends', () => report().includes('1 run passed, 0 failed'), WAIT);
});

test('rejects a folder in use by another run, and accepts the folder of a dead run', async () => {
  const withoutOutput = { stdout: 'ignore', stderr: 'ignore' } as const;
  const first = Bun.spawn(argv(), withoutOutput);
  const suite = await waits();
  const second = Bun.spawnSync(argv());
  const [, owner = ''] = /(process \d+, started at .*)\n/.exec(lock()) ?? [];

  expect(second.exitCode).toBe(2);
  expect(second.stderr.toString()).toBe(
    `error: another run is using ${folder}: ${owner}\nhint: wait until it ends, or end it with kill and its PID\n`,
  );

  process.kill(Number(/\d+/.exec(owner)?.[0]), 'SIGKILL');
  expect(await first.exited).toBe(137);
  await waitFor('its suite ends', () => !isRunning(suite), WAIT);
  await letPass();
  const third = Bun.spawn(argv(), withoutOutput);
  expect(await third.exited).toBe(0);
  expect(lock()).not.toContain(owner);
});

test('ends when it is interrupted, and ends its suite', async () => {
  const run = Bun.spawn(argv(), { stdout: 'ignore', stderr: 'ignore' });
  const suite = await waits();
  run.kill('SIGINT');

  expect(await run.exited).toBe(130);
  expect(isRunning(suite)).toBe(false);
  expect(report()).toEndWith('\n0 runs passed, 0 failed, interrupted\n');
});

test('kills a suite that ignores SIGTERM when the run is interrupted again', async () => {
  const stubborn = `process.on('SIGTERM', () => {});\n${SUITE}`;
  await Bun.write(join(folder, 'suite.test.ts'), stubborn);
  const run = Bun.spawn(argv(), { stdout: 'ignore', stderr: 'ignore' });
  const suite = await waits();
  await waitFor(
    'the run ends',
    () => {
      run.kill('SIGINT');
      return run.exitCode !== null || run.signalCode !== null;
    },
    WAIT,
  );

  expect(run.exitCode).toBe(130);
  expect(isRunning(suite)).toBe(false);
  expect(report()).toContain('; interrupt again to kill it\n');
});

test.each([
  [
    'a folder that cannot be written to',
    ['--folder=/proc/nowhere'],
    'cannot write to /proc/nowhere: ',
  ],
  ['an unknown suite', ['nowhere'], 'unknown suite "nowhere"\nhint: name test, '],
  ['an invalid number', ['--runs=0'], 'invalid --runs=0\nhint: use a whole number, 1 or more\n'],
])('rejects %s', (_, args, reason) => {
  const { exitCode, stderr } = Bun.spawnSync([...argv(), ...args]);

  expect(stderr.toString()).toStartWith(`error: ${reason}`);
  expect(exitCode).toBe(2);
});
