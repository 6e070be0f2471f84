import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { Random } from '../../fuzz/random.ts';
import { familyOf, identityOf, isRunning, stateOf } from '../../world/machine/identity.ts';
import { waitFor } from '../../world/wait.ts';
import { disturb } from './disturbance.ts';

/** A program that starts a child process. Both wait. */
const PARENT = `const child = Bun.spawn(['sleep', '1000']); console.log(child.pid); await child.exited;`;

test('pauses a process or a descendant, resumes it, and ends all its child processes', async () => {
  const suite = Bun.spawn([process.execPath, '-e', PARENT], { stdout: 'pipe' });
  const { value } = await suite.stdout.getReader().read();
  const sleeper = Number(new TextDecoder().decode(value));
  const pids = () => familyOf(process.pid).map(({ pid }) => pid);
  const before = new Set(pids());
  const ended = new AbortController();

  try {
    const totals = disturb(
      {
        root: suite.pid,
        random: new Random(1, 1),
        busyProcesses: 1,
        maxPauseMs: 60_000,
        maxGapMs: 10,
      },
      ended.signal,
    );
    const isStopped = (pid: number) => stateOf(pid) === 'T';
    await waitFor('one of the processes is stopped', () => [suite.pid, sleeper].find(isStopped), {
      deadlineMs: 200_000,
      everyMs: 5,
    });
    ended.abort();

    expect((await totals).pauses).toBe(1);
    await waitFor('both processes run', () => ![suite.pid, sleeper].some(isStopped), {
      deadlineMs: 200_000,
      everyMs: 5,
    });
    expect(pids().filter((pid) => !before.has(pid))).toEqual([]);
  } finally {
    ended.abort();
    process.kill(sleeper);
    await suite.exited;
  }
});

/** A program that disturbs the process whose PID is its last argument. */
const DISTURB = `
import { Random } from ${JSON.stringify(join(import.meta.dir, '../../fuzz/random.ts'))};
import { disturb } from ${JSON.stringify(join(import.meta.dir, 'disturbance.ts'))};
const root = Number(process.argv.at(-1));
const random = new Random(1, 1);
await disturb({ root, random, busyProcesses: 0, maxPauseMs: 600_000, maxGapMs: 10 }, new AbortController().signal);`;

test('the watchdog of a killed disturbance resumes and terminates the suite', async () => {
  const suite = Bun.spawn(['sleep', '1000']);
  const identity = identityOf(suite.pid);
  const disturbance = Bun.spawn([process.execPath, '-e', DISTURB, String(suite.pid)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await waitFor('the suite is stopped', () => stateOf(suite.pid) === 'T', {
      deadlineMs: 200_000,
      everyMs: 5,
    });
    disturbance.kill('SIGKILL');
    await disturbance.exited;

    await waitFor('the suite ends', () => !isRunning(identity!), {
      deadlineMs: 200_000,
      everyMs: 5,
    });
    await suite.exited;
    expect(suite.signalCode).toBe('SIGTERM');
  } finally {
    suite.kill('SIGKILL');
    disturbance.kill('SIGKILL');
  }
});
