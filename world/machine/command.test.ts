import { describe, expect, test } from 'bun:test';
import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { CommandError, run } from './command.ts';
import { identityOf, isRunning } from './identity.ts';
import { patience, waitFor } from '../wait.ts';

/** Returns the error that a command fails with. */
async function failure(running: Promise<unknown>): Promise<CommandError> {
  const error = await running.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof CommandError)) throw new Error(`no CommandError: ${String(error)}`);
  return error;
}

/**
 * Runs a script that prints the PID of a child and never ends. Retries with a longer timeout if the shell was too slow
 * to print.
 */
async function runUntilTimeout(script: string) {
  for (const timeoutMs of [200, 2000, 15_000, 60_000]) {
    const error = await failure(run(['sh', '-c', script], { timeoutMs }));
    expect(error.message).toContain(`not finished after ${timeoutMs * patience} ms`);
    if (error.stdout === '') continue;
    const child = Number(error.stdout);
    // kill(0) would signal the whole process group of this test.
    expect(child).toBeGreaterThan(1);
    return { error, child };
  }
  throw new Error(`${script}: printed nothing`);
}

describe('a command', () => {
  test('returns stdout and stderr separately', async () => {
    const output = await run(['sh', '-c', 'echo out; echo err >&2']);

    expect(output).toEqual({ stdout: 'out\n', stderr: 'err\n' });
  });

  test('gets its input, additional environment variables and its folder', async () => {
    const output = await run(['sh', '-c', 'cat; echo "$GREETING"; pwd; [ -n "$PATH" ]'], {
      input: 'grüße\n',
      env: { GREETING: 'hello' },
      cwd: tmpdir(),
    });

    expect(output.stdout).toBe(`grüße\nhello\n${realpathSync(tmpdir())}\n`);
  });

  test('reads end of file if it has no input', async () => {
    const output = await run(['cat'], { timeoutMs: 20_000 });

    expect(output.stdout).toBe('');
  });

  test('does not have to read its input', async () => {
    const output = await run(['true'], { input: 'x'.repeat(1 << 20) });

    expect(output.stdout).toBe('');
  });

  test('may print more than a pipe holds to stdout and stderr, in multi-byte characters', async () => {
    const print = 'yes ü | head -n 200000';

    const output = await run(['sh', '-c', `${print}; ${print} >&2`]);

    expect(output.stdout).toBe('ü\n'.repeat(200_000));
    expect(output.stderr).toBe('ü\n'.repeat(200_000));
  });
});

describe('a command that fails', () => {
  test('throws its exit code and output', async () => {
    const argv = ['sh', '-c', 'echo out; echo err >&2; exit 3'];

    const error = await failure(run(argv));

    expect(error).toMatchObject({ argv, code: 3, stdout: 'out\n', stderr: 'err\n' });
    expect(error.message).toBe(`${argv.join(' ')}: exit code 3\nerr\nout`);
  });

  test('throws the signal that killed it', async () => {
    const error = await failure(run(['sh', '-c', 'kill -TERM $$']));

    expect(error.code).toBeUndefined();
    expect(error.message).toEndWith(': killed by SIGTERM');
  });

  test.each([
    [['/no/such/program', 'x'], {}, '/no/such/program x: could not be started: ENOENT'],
    [['cat'], { cwd: '/no/such/folder' }, 'cat: could not be started: ENOENT'],
  ])('throws that %j could not be started', async (argv, options, message) => {
    const error = await failure(run(argv, options));

    expect(error).toMatchObject({ argv, code: undefined, stdout: '', stderr: '' });
    expect(error.message).toStartWith(message);
  });
});

describe('a command that takes too long', () => {
  test('is killed with its child processes, and its output is in the error', async () => {
    const { error, child } = await runUntilTimeout('sleep 600 & echo $!; wait');

    await waitFor(`process ${child} is gone`, () => !isAlive(child), {
      deadlineMs: 200_000,
      everyMs: 5,
    });
    expect(error.code).toBeUndefined();
  });

  test('does not delay the error if a detached program keeps its output open', async () => {
    const { child } = await runUntilTimeout('sleep 600 & echo $!');

    process.kill(child, 'SIGKILL');
  });
});

function isAlive(pid: number): boolean {
  const identity = identityOf(pid);
  return identity !== undefined && isRunning(identity);
}
