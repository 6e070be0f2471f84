/**
 * Answers a completion request of a shell in the format of Cobra, which kubectl expects from its plugins: one line per
 * candidate, with a tab before its description, and at the end a colon and a directive number.
 */
import type { Command } from 'commander';
import { expectedAt, type Candidate, type Expected } from './candidates.ts';
import { edgeNames, exposureKeys, exposureTexts } from './exposure-names.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Cobra's directives: the default one, which lets the shell offer file names, and NoFileComp. */
const DIRECTIVES = { files: 0, noFiles: 4 } as const;

/** The commands by name, each loaded on demand. */
export type Commands = ReadonlyMap<string, (io: CommandIo) => Promise<Command>>;

/** Prints the answer and exits, because a request to an unresponsive cluster would keep the process alive. */
export async function endWithAnswer(
  io: CommandIo,
  words: readonly string[],
  commands: Commands,
): Promise<never> {
  const answer = await completionAnswer(io, words, commands);
  await new Promise<void>((resolve) => io.stdout.write(answer, resolve));
  return io.exit(0);
}

/** Returns the output for the words after the program name. The last word is the one to complete. */
async function completionAnswer(
  io: CommandIo,
  words: readonly string[],
  commands: Commands,
): Promise<string> {
  const [first, ...rest] = words;
  if (first === undefined || rest.length === 0)
    return textOf(await names(io, commands), first ?? '');
  const command = await commands.get(first === 'help' ? '' : first)?.(io);
  if (command === undefined) {
    const isHelp = first === 'help' && rest.length === 1;
    return textOf(isHelp ? await names(io, commands) : [], rest.at(-1) ?? '');
  }
  const written = rest.at(-1) ?? '';
  const before = rest.slice(0, -1);
  // Bash splits --only=x into words: the current word is x, or the equals sign itself.
  const current = written === '=' ? '' : written;
  const expected = expectedAt(command, before, current);
  if (expected.kind === 'file') return `:${DIRECTIVES.files}\n`;
  return textOf(await valuesOf(io, expected), current);
}

async function names(io: CommandIo, commands: Commands): Promise<readonly Candidate[]> {
  const all = await Promise.all(
    [...commands].map(async ([value, load]) => {
      const description = (await load(io)).description();
      return { value, description };
    }),
  );
  return [...all, { value: 'help', description: 'Show the help of a command' }];
}

async function valuesOf(
  io: CommandIo,
  expected: Exclude<Expected, { kind: 'file' }>,
): Promise<readonly Candidate[]> {
  switch (expected.kind) {
    case 'values':
      return expected.values;
    case 'exposure': {
      const { flags, given, also } = expected;
      if (flags.has('--all-namespaces')) return [];
      const found = await exposureKeys(io, flags);
      const texts = found === undefined ? [] : exposureTexts(found);
      const others = texts.filter((text) => !given.includes(text));
      return [...also, ...others.map((value) => ({ value }))];
    }
    case 'namespace': {
      const found = await exposureKeys(io, expected.flags);
      const namespaces = new Set(found?.keys.flatMap(({ namespace }) => namespace ?? []));
      return [...namespaces].toSorted().map((value) => ({ value }));
    }
    case 'edge':
      return (await edgeNames(io, expected.flags)).map((value) => ({ value }));
    case 'code': {
      const { explanations } = await import('../explain/explanations.ts');
      return explanations().map(({ code, meaning }) => ({ value: code, description: meaning }));
    }
    case 'anything':
      return [];
  }
}

function textOf(candidates: readonly Candidate[], current: string): string {
  const lines = candidates
    .filter(({ value }) => value.startsWith(current))
    .map(({ value, description }) =>
      description === undefined || description === '' ? `${value}\n` : `${value}\t${description}\n`,
    );
  return `${lines.join('')}:${DIRECTIVES.noFiles}\n`;
}
