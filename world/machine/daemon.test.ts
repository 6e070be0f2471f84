import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../wait.ts';
import { Daemon } from './daemon.ts';
import type { Ledger } from './ledger.ts';

const folder = mkdtempSync(join(tmpdir(), 'daemon-'));
const daemons: Daemon[] = [];
const WAIT = { deadlineMs: 200_000 };

afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.kill();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Starts a script as the child of a process that behaves like nsenter: it waits for its child, stops itself when its
 * child is stopped, and continues on SIGCONT.
 */
async function start(script: string): Promise<Daemon> {
  const ledger = { assertOpen: () => {}, append: () => {} } as unknown as Ledger;
  const outer = `bash -c '${script}' & child=$!
    while kill -0 $child 2>/dev/null; do
      [ "$(cut -d' ' -f3 /proc/$child/stat 2>/dev/null)" = T ] && kill -STOP $$
      sleep 0.01
    done; wait $child`;
  const recipe = {
    name: 'test',
    argv: ['bash', '-c', outer],
    env: { PATH: process.env['PATH']! },
    log: join(folder, 'log'),
  };
  const daemon = await Daemon.start(recipe, ledger);
  daemons.push(daemon);
  return daemon;
}

test('kills a paused program, also if its parent is paused', async () => {
  const daemon = await start('exec sleep 1000');
  daemon.pause();

  await daemon.kill();

  expect(daemon.running).toBe(false);
});

test('a program that ignores SIGTERM is killed after the grace period', async () => {
  const daemon = await start('trap "" TERM; echo ready; while :; do sleep 0.01; done');
  await waitFor('the program is ready', () => daemon.tail() === 'ready', WAIT);

  await daemon.terminate(50);

  expect(daemon.running).toBe(false);
});

test('the tail of a restarted program has only its own output', async () => {
  const daemon = await start('echo $$; exec sleep 1000');
  const first = await waitFor('it has printed its PID', () => daemon.tail() || undefined, WAIT);

  await daemon.restart();
  const second = await waitFor('it has printed its PID', () => daemon.tail() || undefined, WAIT);

  expect(second).not.toContain(first);
  expect(second.split('\n')).toHaveLength(1);
});
