import { expect, test } from 'bun:test';
import { Random } from '../../fuzz/random.ts';
import { familyOf, stateOf } from '../../world/machine/identity.ts';
import { waitFor } from '../../world/wait.ts';
import { disturb } from './disturbance.ts';

/** A process with a child, which both wait. */
const PARENT = `const child = Bun.spawn(['sleep', '1000']); console.log(child.pid); await child.exited;`;

test('pauses a process or a descendant of it, and leaves them running and no child of its own', async () => {
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
    await waitFor('one is stopped', () => [suite.pid, sleeper].find(isStopped), { everyMs: 5 });
    ended.abort();

    expect((await totals).pauses).toBe(1);
    await waitFor('both go on', () => ![suite.pid, sleeper].some(isStopped), { everyMs: 5 });
    expect(pids().filter((pid) => !before.has(pid))).toEqual([]);
  } finally {
    ended.abort();
    process.kill(sleeper);
    await suite.exited;
  }
});
