/**
 * Completes a command line for a shell, in the output format of Cobra, which kubectl expects from its plugins: one line
 * per candidate, with a tab before its description, and at the end a colon and a directive.
 */
import type { Command } from 'commander';
import { expectedAt, type Candidate, type Expected } from './candidates.ts';
import { edgeNames, exposureArguments, exposureKeys } from './exposure-names.ts';
import type { CommandIo } from '../io/command-io.ts';

/**
 * The values of Cobra's ShellCompDirective: Default, with which the shell completes file names, and NoFileComp, with
 * which it does not.
 */
const SHELL_COMP_DIRECTIVE = { Default: 0, NoFileComp: 4 } as const;

/** The commands by name, each loaded on demand. */
type Commands = ReadonlyMap<string, (io: CommandIo) => Promise<Command>>;

/**
 * Prints the completions of the last argument, `toComplete` in Cobra, and exits. `args` are the words after the program
 * name. Without the exit, a pending request to an unresponsive cluster would keep the process alive.
 */
export async function printCompletionsAndExit(
  io: CommandIo,
  args: readonly string[],
  commands: Commands,
): Promise<never> {
  const completions = await completionsFor(io, args.slice(0, -1), args.at(-1) ?? '', commands);
  await new Promise<void>((resolve) => io.stdout.write(completions, resolve));
  return io.exit(0);
}

async function completionsFor(
  io: CommandIo,
  args: readonly string[],
  toComplete: string,
  commands: Commands,
): Promise<string> {
  const [name, ...commandArgs] = args;
  const isHelp = name === 'help';
  if (name === undefined || (isHelp && commandArgs.length === 0))
    return formatCompletions(await commandCandidates(io, commands), toComplete);
  const command = isHelp ? undefined : await commands.get(name)?.(io);
  if (command === undefined) return formatCompletions([], toComplete);
  // Bash splits `--only=x` into three words. The word to complete is then `x`, or the equals sign itself.
  const prefix = toComplete === '=' ? '' : toComplete;
  const expected = expectedAt(command, commandArgs, prefix);
  if (expected.kind === 'file') return `:${SHELL_COMP_DIRECTIVE.Default}\n`;
  return formatCompletions(await candidatesFor(io, expected), prefix);
}

async function commandCandidates(io: CommandIo, commands: Commands): Promise<readonly Candidate[]> {
  const candidates = await Promise.all(
    [...commands].map(async ([value, load]) => {
      const description = (await load(io)).description();
      return { value, description };
    }),
  );
  return [...candidates, { value: 'help', description: 'Help about any command' }];
}

async function candidatesFor(
  io: CommandIo,
  expected: Exclude<Expected, { kind: 'file' }>,
): Promise<readonly Candidate[]> {
  switch (expected.kind) {
    case 'values':
      return expected.values;
    case 'exposure': {
      const { flags, positionals, subcommands } = expected;
      // With --all-namespaces, commands select all Exposures and accept no names.
      if (flags.has('--all-namespaces')) return [];
      const found = await exposureKeys(io, flags);
      const names = found === undefined ? [] : exposureArguments(found);
      const unused = names.filter((name) => !positionals.includes(name));
      return [...subcommands, ...unused.map((value) => ({ value }))];
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
    case 'freeText':
      return [];
  }
}

/** Returns the candidates that start with `prefix`, without file names. */
function formatCompletions(candidates: readonly Candidate[], prefix: string): string {
  const lines = candidates
    .filter(({ value }) => value.startsWith(prefix))
    .map(({ value, description }) =>
      description === undefined || description === '' ? `${value}\n` : `${value}\t${description}\n`,
    );
  return `${lines.join('')}:${SHELL_COMP_DIRECTIVE.NoFileComp}\n`;
}
