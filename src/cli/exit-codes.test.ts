import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsOf } from './testing/commands.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

const REFERENCE = join(import.meta.dir, '../../docs/reference/exit-codes.md');

let terminal: Terminal;
beforeAll(() => {
  terminal = new Terminal();
});
afterAll(() => terminal[Symbol.dispose]());

/** Returns the section `Exit codes:` of a help text, as a table. */
function tableOf(help: string): string {
  const [, section = ''] = /^Exit codes:\n((?: .*\n?)+)/m.exec(help) ?? [];
  const lines = section.replaceAll(/\n {5,}/g, ' ').matchAll(/^ {2}(\d) {2}(.*)$/gm);
  const rows = [...lines].map(([, code = '', meaning = '']) => `| ${code} | ${meaning} |\n`);
  return `| code | |\n|---|---|\n${rows.join('')}`;
}

test('docs/reference/exit-codes.md has the exit codes of every command, in the words of its help', async () => {
  const named = [...(await commandsOf(terminal))].filter(([name]) => name !== '');
  const all = named.toSorted(([a], [b]) => (a < b ? -1 : 1));
  const expected = all.map(([name, help]) => `## snicket ${name}\n\n${tableOf(help)}`);

  const [, ...sections] = readFileSync(REFERENCE, 'utf8').split(/^(?=## )/m);

  expect(all.length).toBeGreaterThan(15);
  for (const [name, help] of all) expect(`${name}: ${tableOf(help)}`).toContain('| 0 | ');
  expect(sections.join('')).toBe(expected.join('\n'));
});
