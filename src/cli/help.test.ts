import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { commandsOf } from './testing/commands.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

const COLUMNS = 80;

let terminal: Terminal;
let commands: ReadonlyMap<string, string>;
beforeAll(async () => {
  terminal = new Terminal();
  commands = await commandsOf(terminal);
});
afterAll(() => terminal[Symbol.dispose]());

function widerLines(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => Bun.stringWidth(line) > COLUMNS);
}

test('every help text fits into 80 columns in a pipe', () => {
  expect(commands.size).toBeGreaterThan(16);
  expect([...commands.values()].flatMap(widerLines)).toEqual([]);
});

test('every help text fits into 80 columns on a terminal of 80 columns', async () => {
  const helps = await Promise.all(
    [...commands.keys()].map(async (name) => terminal.show(helpOf(name), COLUMNS)),
  );

  for (const help of helps) expect(help).toStartWith('Usage: snicket ');
  expect(helps.flatMap(widerLines)).toEqual([]);
});

test('every help text of the kubectl plugin fits into 80 columns', async () => {
  const called = { SNICKET_CALLED: '/usr/local/bin/kubectl-snicket' };
  const ended = await Promise.all(
    [...commands.keys()].map(async (name) => terminal.snicket(helpOf(name), '', called)),
  );

  const helps = ended.map(({ stdout }) => stdout);
  for (const help of helps) expect(help).toStartWith('Usage: kubectl snicket ');
  expect(helps.flatMap(widerLines)).toEqual([]);
});

function helpOf(name: string): readonly string[] {
  return [...name.split(' ').filter((word) => word !== ''), '--help'];
}
