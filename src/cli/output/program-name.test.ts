import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inNameOf, programName } from './program-name.ts';
import { Terminal } from '../testing/snicket.ts';

setDefaultTimeout(240_000);

let terminal: Terminal;
let path: string;
beforeAll(() => {
  terminal = new Terminal();
  const folder = join(terminal.folder, 'bin');
  mkdirSync(folder);
  symlinkSync(terminal.program, join(folder, 'kubectl-snicket'));
  path = `${folder}:${process.env['PATH']}`;
});
afterAll(() => terminal[Symbol.dispose]());

test.each([
  ['snicket', 'snicket'],
  ['/usr/local/bin/snicket', 'snicket'],
  ['/home/me/bin/kubectl-snicket', 'kubectl snicket'],
  ['kubectl-snicket.exe', 'kubectl snicket'],
  ['/snicket/kubectl', 'snicket'],
])('the program called as %s is named %s', (called, name) => {
  expect(programName({ env: {}, argv0: called })).toBe(name as 'snicket');
});

test('replaces the program name in examples only', () => {
  const text = `  snicket dns -A | kubectl apply
driver snicket, snicket-system, ./snicket dns, kubectl snicket dns, kubectl-snicket dns, snicketdns`;

  expect(inNameOf('kubectl snicket', text, ['dns', 'run'])).toBe(
    text.replace('  snicket dns', '  kubectl snicket dns'),
  );
  expect(inNameOf('snicket', text, ['dns'])).toBe(text);
});

test('does not replace a wrapped name that is already correct', () => {
  const text = 'the folder of kubectl\n    snicket run';

  expect(inNameOf('kubectl snicket', text, ['run'])).toBe(text);
});

test.skipIf(Bun.which('kubectl') === null)('kubectl runs the program as a plugin', async () => {
  const kubectl = ['env', `PATH=${path}`, 'kubectl', 'snicket'];

  const version = await terminal.run([...kubectl, 'version']);
  const help = await terminal.run([...kubectl, 'status', '--help']);
  const refused = await terminal.run([...kubectl, 'status', '--nonsense']);

  expect(version.stdout).toStartWith('snicket ');
  expect(help.stdout).toStartWith('Usage: kubectl snicket status [options] [exposure]\n');
  expect(help.stdout).toContain('\n  kubectl snicket status -A --watch ');
  expect(help.stdout).not.toMatch(/^ +snicket /m);
  expect(refused.exitCode).toBe(2);
});

test('the examples of a direct call name snicket', async () => {
  const { stdout } = await terminal.snicket(['dns', '--help']);

  expect(stdout).toStartWith('Usage: snicket dns ');
  expect(stdout).not.toContain('kubectl snicket');
});
