/**
 * A command in this process behaves as the program that users run: the same output, and the same exit code.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../operator/testing/until.ts';
import { StatusCluster } from './status-cluster.ts';
import type { Terminal } from './snicket.ts';
import { EDGE, exposureOf } from './yaml-objects.ts';

setDefaultTimeout(240_000);

let cluster: StatusCluster;
let terminal: Terminal;
beforeAll(async () => {
  cluster = await StatusCluster.start();
  ({ terminal } = cluster);
  terminal.write('edge.yaml', EDGE);
  mkdirSync(join(terminal.folder, 'tenants.d'));
  terminal.write('tenants.d/wrong.yaml', 'kind: Exposure\n');
});
afterAll(async () => cluster[Symbol.asyncDispose]());

const LINES: readonly (readonly [string, readonly string[], string, number])[] = [
  ['a success', ['version'], '', 0],
  ['an option that is unknown', ['status', '--nope'], '', 2],
  ['what the cluster does not have', ['render', 'tenants/nobody'], '', 2],
  ['what is not well, as JSON', ['status', '-A', '-o', 'json'], '', 1],
  ['standard input, and files by relative names', ['render', '-f', 'edge.yaml', '-'], 'blue', 0],
  ['a folder that is wrong', ['doctor', '-f', 'tenants.d'], '', 2],
  ['a folder that is not there', ['dns', '-f', 'nowhere'], '', 2],
  ['a kubeconfig that is not there', ['status', '--kubeconfig', './nowhere'], '', 2],
  ['the answer to a shell', ['__complete', 'status', '--out'], '', 0],
];

test.each(LINES)(
  '%s has the same result as a process and in this process',
  async (_, args, input, exitCode) => {
    const stdin = input === '' ? '' : exposureOf(input);

    const [spawned, inProcess] = await Promise.all([
      terminal.spawn(args, stdin),
      terminal.snicket(args, stdin),
    ]);

    expect(inProcess).toEqual(spawned);
    expect(inProcess.exitCode).toBe(exitCode);
    expect(inProcess.stdout + inProcess.stderr).not.toBe('');
  },
);

test('a table is the same on a test terminal and on a real one', async () => {
  const args = ['status', '-A'];
  const session = terminal.open(args, 80);

  const [shown, exitCode] = await Promise.all([terminal.show(args, 80), session.ended]);

  expect(withoutAges(shown)).toBe(withoutAges(session.text));
  expect(shown).toContain('\u001B[');
  expect(exitCode).toBe(1);
});

/** Removes ages, which change every second, and with them the width of their column. */
function withoutAges(text: string): string {
  return text.replaceAll(/\b\d+[smhd]\b/g, '0s').replaceAll(/ +/g, ' ');
}

test('removes all listeners', async () => {
  const before = listenersOf(process);
  const watching = terminal.begin(['status', '-A', '--watch'], 80);
  await until('it is drawn', () => watching.text.includes('EXPOSURE'));

  watching.signal('SIGINT');
  await watching.ended;
  await terminal.snicket(['gateway', '--kubernetes', '--kubeconfig', './nowhere']);

  expect(listenersOf(process)).toEqual(before);
  expect(watching.io.stdout.listenerCount('resize')).toBe(0);
  expect(watching.io.signals.listenerCount('exit')).toBe(0);
});

function listenersOf(emitter: NodeJS.EventEmitter): readonly string[] {
  return emitter
    .eventNames()
    .map((name) => `${String(name)} ${emitter.listenerCount(name)}`)
    .toSorted();
}
