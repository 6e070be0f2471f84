import { expect, test } from 'bun:test';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { snicket } from './cli/testing/in-process.ts';

const launcher = resolve(import.meta.dir, '../snicket');

function launch(words: readonly string[], cwd: string) {
  const ended = Bun.spawnSync([...words], { cwd });
  return {
    exitCode: ended.exitCode,
    stdout: ended.stdout.toString(),
    stderr: ended.stderr.toString(),
  };
}

test('prints the help when called without a command', async () => {
  const { exitCode, stdout } = await snicket([]);

  expect(stdout).toContain('Usage: snicket');
  expect(stdout).toContain('version');
  expect(exitCode).toBe(0);
});

test.each(['--version', '-V'])('prints the version for %s, and lists that', async (option) => {
  expect(await snicket([option])).toEqual(await snicket(['version']));
  expect((await snicket(['--help'])).stdout).toMatch(new RegExp(`^ .*${option}\\b`, 'm'));
});

test('refuses an unknown command with exit code 2 and suggests the nearest one', async () => {
  const { exitCode, stdout, stderr } = await snicket(['versoin']);

  expect(stderr).toContain("unknown command 'versoin'");
  expect(stderr).toContain('\nhint: did you mean version?\n');
  expect(stdout).toBe('');
  expect(exitCode).toBe(2);
});

test('shows what a terminal would act on as what it is', async () => {
  expect((await snicket(['\u001B[2J'])).stderr).toContain("unknown command '\\u001b[2J'");
});

test.each([[['help', 'versoin']], [['help', 'versoin', 'more']]])(
  'refuses to explain an unknown command: %j',
  async (words) => {
    const { exitCode, stdout, stderr } = await snicket(words);

    expect(stderr).toContain("error: unknown command 'versoin'");
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  },
);

test('explains a command that it knows, and itself', async () => {
  expect((await snicket(['help', 'version'])).stdout).toContain('Usage: snicket version');
  expect(await snicket(['help', 'help'])).toEqual(await snicket(['help']));
});

test('refuses an unknown option of a subcommand with exit code 2', async () => {
  const { exitCode, stderr } = await snicket(['version', '--nope']);

  expect(stderr).toContain("unknown option '--nope'");
  expect(exitCode).toBe(2);
});

test('runs through a symlink, and runs no code of the working directory', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'snicket-launcher-'));
  await symlink(launcher, join(directory, 'link'));
  await symlink('link', join(directory, 'kubectl-snicket'));
  await Bun.write(join(directory, 'bunfig.toml'), 'preload = ["./preloaded.ts"]');
  await Bun.write(join(directory, 'preloaded.ts'), 'console.log("preloaded");');

  const { exitCode, stdout, stderr } = launch(['./kubectl-snicket', 'version'], directory);
  const help = launch(['./kubectl-snicket', 'status', '--help'], directory);
  await rm(directory, { recursive: true });

  expect(help.stdout).toStartWith('Usage: kubectl snicket status ');
  expect(stdout).toStartWith('snicket ');
  expect(stdout).not.toContain('preloaded');
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
});
