/** Draws docs/images/demo.svg from a real run of the demo: `make pictures`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { REPOSITORY } from './pages.ts';
import { terminalPicture } from './terminal-picture.ts';

const COLUMNS = 96;
/** The parts of the output that the picture shows: each from its first line to before the line with the second text. */
const PARTS: readonly (readonly [string, string])[] = [
  ['The problem', 'The solution'],
  ['The solution', 'Configuration:'],
  ['default/a ', 'default/b '],
];

const output = await demoOutput();
const lines = output.split('\r\n');
const selected = PARTS.flatMap(([first, next]) => partOf(lines, first, next));
const picture = terminalPicture(
  ['$ make demo', '', ...withoutLastEmpty(selected)],
  'Output of make demo: the problem, the solution, and the checks of a tenant',
);
const folder = join(REPOSITORY, 'docs/images');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'demo.svg'), picture);
console.log('docs/images/demo.svg');

/** Runs the demo once, on a terminal. */
async function demoOutput(): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  const demo = Bun.spawn([process.execPath, 'demo/run.ts', '--once'], {
    cwd: REPOSITORY,
    env: { ...process.env, TERM: 'xterm', NO_COLOR: undefined },
    terminal: {
      cols: COLUMNS,
      rows: 50,
      data: (_, bytes) => (text += decoder.decode(bytes, { stream: true })),
    },
  });
  const exitCode = await demo.exited;
  if (exitCode !== 0) throw new Error(`the demo exited with ${exitCode}:\n${text}`);
  return text;
}

/** Returns the lines from the heading `first` to before the line that has `next`. */
function partOf(all: readonly string[], first: string, next: string): readonly string[] {
  const plain = all.map((line) => stripVTControlCharacters(line));
  const from = plain.findIndex((line) => line.startsWith(first));
  const to = plain.findIndex((line, at) => at > from && line.includes(next));
  if (from === -1 || to === -1)
    throw new Error(`the demo prints no part from '${first}' to '${next}'`);
  return all.slice(from, to);
}

function withoutLastEmpty(all: readonly string[]): readonly string[] {
  return all.at(-1)?.trim() === '' ? withoutLastEmpty(all.slice(0, -1)) : all;
}
