import { afterEach, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { waitFor } from '../wait.ts';
import {
  bootId,
  childrenOf,
  familyOf,
  identityOf,
  isRunning,
  parseStat,
  signal,
} from './identity.ts';

let started: Bun.Subprocess[] = [];

afterEach(async () => {
  for (const child of started) child.kill('SIGKILL');
  await Promise.all(started.map((child) => child.exited));
  started = [];
});

/** Starts a process that waits for the end of its input, so it ends when it is killed or when this process ends. */
function start(...argv: string[]): Bun.Subprocess<'pipe', 'pipe', 'inherit'> {
  const child = Bun.spawn(argv.length > 0 ? argv : ['cat'], { stdin: 'pipe', stdout: 'pipe' });
  started.push(child);
  return child;
}

describe('an identity', () => {
  test('names a running process', () => {
    const child = start();

    const identity = identityOf(child.pid)!;

    expect(identity.pid).toBe(child.pid);
    expect(identity.startTicks).toMatch(/^\d+$/);
    expect(isRunning(identity)).toBe(true);
  });

  test('does not change', () => {
    expect(identityOf(process.pid)).toEqual(identityOf(process.pid));
  });

  test('does not exist for a PID without a process', () => {
    const beyondTheLast = Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8')) + 1;

    expect(identityOf(beyondTheLast)).toBeUndefined();
  });

  test('is no longer running once the process has ended', async () => {
    const child = start();
    const identity = identityOf(child.pid)!;

    child.kill('SIGKILL');
    await child.exited;

    expect(isRunning(identity)).toBe(false);
  });

  test('is not running as a zombie', async () => {
    // The shell becomes cat, which never reaps the shell's child.
    const parent = start('sh', '-c', 'sleep 600 & echo $!; exec cat');
    const sleeper = Number(await firstLine(parent.stdout));
    // kill(0) would signal the whole process group of this test.
    expect(sleeper).toBeGreaterThan(1);
    const identity = identityOf(sleeper)!;
    await until('sh is cat', () => read(parent.pid, 'comm') === 'cat\n');

    const wasRunning = isRunning(identity);
    process.kill(identity.pid, 'SIGKILL');
    await until('a zombie', () => parseStat(read(identity.pid, 'stat')).state === 'Z');

    expect(wasRunning).toBe(true);
    expect(isRunning(identity)).toBe(false);
  });

  test('differs from a later process with the same PID', () => {
    const child = start();
    const earlier = { pid: child.pid, startTicks: '1' };

    expect(isRunning(earlier)).toBe(false);
  });
});

describe('a signal', () => {
  test('reaches the process', async () => {
    const child = start();

    const sent = signal(identityOf(child.pid)!, 'SIGTERM');
    await child.exited;

    expect(sent).toBe(true);
    expect(child.signalCode).toBe('SIGTERM');
  });

  test('is not sent to a later process with the same PID', () => {
    const child = start();

    const sent = signal({ pid: child.pid, startTicks: '1' }, 'SIGKILL');

    expect(sent).toBe(false);
    expect(isRunning(identityOf(child.pid)!)).toBe(true);
  });

  test('is not sent to a process that has ended', async () => {
    const child = start();
    const identity = identityOf(child.pid)!;
    child.kill('SIGKILL');
    await child.exited;

    expect(signal(identity, 'SIGKILL')).toBe(false);
  });
});

test('a family is a process and its descendants', async () => {
  const shell = start('sh', '-c', 'exec 3<&0; sh -c "cat <&3 & echo \\$!; wait" & wait');
  const grandchild = Number(await firstLine(shell.stdout));

  const family = familyOf(shell.pid).map(({ pid }) => pid);

  expect(childrenOf(shell.pid)).toHaveLength(1);
  expect(family).toEqual([shell.pid, ...childrenOf(shell.pid), grandchild]);
});

test('a process that has ended has no family', async () => {
  const child = start();
  child.kill('SIGKILL');
  await child.exited;

  expect(familyOf(child.pid)).toEqual([]);
  expect(childrenOf(child.pid)).toEqual([]);
});

test('the boot ID does not change', () => {
  const id = bootId();

  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(bootId()).toBe(id);
});

describe('/proc/PID/stat', () => {
  const fields = 'S 1 10 10 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 200';

  test.each(['cat', 'a b', 'a) S 1', '((sd-pam))', ''])(
    'is parsed for a command named %p',
    (name) => {
      expect(parseStat(`10 (${name}) ${fields}\n`)).toEqual({ state: 'S', startTicks: '98765' });
    },
  );

  test('in an unknown format is an error with its content', () => {
    expect(() => parseStat('10 (cat) S 1')).toThrow('10 (cat) S 1');
  });
});

function read(pid: number, file: string): string {
  return readFileSync(`/proc/${pid}/${file}`, 'utf8');
}

async function until(state: string, holds: () => boolean): Promise<void> {
  await waitFor(state, holds, { deadlineMs: 200_000, everyMs: 1 });
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  return new TextDecoder().decode(value).split('\n')[0]!;
}
