import { describe, expect, test } from 'bun:test';
import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { CommandError, run } from './command.ts';
import { identityOf, isRunning } from './identity.ts';
import { waitFor } from '../wait.ts';

/** Long enough for a shell on a busy machine to start and to print a line. */
const TO_START_MS = 1500;

/** The error that a command ends with. */
async function failure(running: Promise<unknown>): Promise<CommandError> {
  const error = await running.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof CommandError)) throw new Error(`no CommandError: ${String(error)}`);
  return error;
}

describe('a command', () => {
  test('gives what it printed, apart', async () => {
    const output = await run(['sh', '-c', 'echo out; echo err >&2']);

    expect(output).toEqual({ stdout: 'out\n', stderr: 'err\n' });
  });

  test('gets its input, its variables besides the usual ones, and its folder', async () => {
    const output = await run(['sh', '-c', 'cat; echo "$GREETING"; pwd; [ -n "$PATH" ]'], {
      input: 'grüße\n',
      env: { GREETING: 'hello' },
      cwd: tmpdir(),
    });

    expect(output.stdout).toBe(`grüße\nhello\n${realpathSync(tmpdir())}\n`);
  });

  test('without input reads the end of the file', async () => {
    const output = await run(['cat'], { timeoutMs: 20_000 });

    expect(output.stdout).toBe('');
  });

  test('may leave its input unread', async () => {
    const output = await run(['true'], { input: 'x'.repeat(1 << 20) });

    expect(output.stdout).toBe('');
  });

  test('may print more than a pipe holds, on both, in letters of several bytes', async () => {
    const print = 'yes ü | head -n 200000';

    const output = await run(['sh', '-c', `${print}; ${print} >&2`]);

    expect(output.stdout).toBe('ü\n'.repeat(200_000));
    expect(output.stderr).toBe('ü\n'.repeat(200_000));
  });
});

describe('a command that fails', () => {
  test('says its code and what it printed', async () => {
    const argv = ['sh', '-c', 'echo out; echo err >&2; exit 3'];

    const error = await failure(run(argv));

    expect(error).toMatchObject({ argv, code: 3, stdout: 'out\n', stderr: 'err\n' });
    expect(error.message).toBe(`${argv.join(' ')}: exit code 3\nerr\nout`);
  });

  test('says the signal that killed it', async () => {
    const error = await failure(run(['sh', '-c', 'kill -TERM $$']));

    expect(error.code).toBeUndefined();
    expect(error.message).toEndWith(': killed by SIGTERM');
  });

  test.each([
    [['/no/such/program', 'x'], {}, '/no/such/program x: could not be started: ENOENT'],
    [['cat'], { cwd: '/no/such/folder' }, 'cat: could not be started: ENOENT'],
  ])('says that %j could not be started', async (argv, options, message) => {
    const error = await failure(run(argv, options));

    expect(error).toMatchObject({ argv, code: undefined, stdout: '', stderr: '' });
    expect(error.message).toStartWith(message);
  });
});

describe('a command that takes too long', () => {
  test('is killed together with the programs it started, and says what it printed until then', async () => {
    const argv = ['sh', '-c', 'sleep 600 & echo $!; wait'];
    const error = await failure(run(argv, { timeoutMs: TO_START_MS }));

    const sleeper = Number(error.stdout);
    expect(sleeper).toBeGreaterThan(1);
    await waitFor(`process ${sleeper} is gone`, () => !runs(sleeper), { everyMs: 5 });
    expect(error.code).toBeUndefined();
    expect(error.message).toContain(`not done after ${TO_START_MS} ms`);
  });

  test('is not waited for when a program that has left it holds its output', async () => {
    const argv = ['sh', '-c', 'sleep 600 & echo $!'];
    const error = await failure(run(argv, { timeoutMs: TO_START_MS }));

    process.kill(Number(error.stdout), 'SIGKILL');
    expect(error.message).toContain(`not done after ${TO_START_MS} ms`);
  });
});

function runs(pid: number): boolean {
  const identity = identityOf(pid);
  return identity !== undefined && isRunning(identity);
}
