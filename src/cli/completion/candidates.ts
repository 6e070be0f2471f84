/**
 * Finds completion candidates. Reads them from the Commander definitions, so that they cannot become stale. Pure.
 */
import type { Argument, Command, Option } from 'commander';

/** A completion candidate and its description. */
export interface Candidate {
  readonly value: string;
  readonly description?: string | undefined;
}

/** What is expected at a position of the command line. */
export type Expected =
  /** One of these. */
  | { readonly kind: 'values'; readonly values: readonly Candidate[] }
  /** An Exposure other than those in `given`, or one of the words in `also`. */
  | {
      readonly kind: 'exposure';
      readonly flags: ReadonlyMap<string, string>;
      readonly given: readonly string[];
      readonly also: readonly Candidate[];
    }
  /** A namespace with Exposures in it. */
  | { readonly kind: 'namespace'; readonly flags: ReadonlyMap<string, string> }
  /** An Edge. */
  | { readonly kind: 'edge'; readonly flags: ReadonlyMap<string, string> }
  /** A code of a finding, a hop or a check. */
  | { readonly kind: 'code' }
  | { readonly kind: 'file' }
  /** Free text, for which there are no candidates. */
  | { readonly kind: 'anything' };

/** Returns what is expected after these words of a command. `current` is the word to complete. */
export function expectedAt(command: Command, words: readonly string[], current: string): Expected {
  const [first, ...rest] = words;
  const subcommand = command.commands.find((one) => one.name() === first);
  if (subcommand !== undefined) return expectedAt(subcommand, rest, current);
  const { open, flags, given, isLiteral } = walk(command, words);
  const isOver = open !== undefined && flags.has(nameOf(open)) && current.startsWith('-');
  if (open !== undefined && !isOver) return valueOf(open, flags);
  if (!isLiteral && current.startsWith('-')) {
    const [long = '', value] = current.split('=', 2);
    const option = optionIn(command, long);
    if (value === undefined) return { kind: 'values', values: optionsOf(command, flags) };
    return option === undefined ? { kind: 'anything' } : withPrefix(long, valueOf(option, flags));
  }
  return argumentAt(command, given, flags);
}

interface Walk {
  /** The option that still needs its value, or accepts one more. */
  readonly open?: Option | undefined;
  /** Values of the options given so far, by long name; empty for options without a value. */
  readonly flags: ReadonlyMap<string, string>;
  readonly given: readonly string[];
  /** Whether the words contain `--`, after which nothing is an option. */
  readonly isLiteral: boolean;
}

/** Parses the words from left to right, as Commander does. */
function walk(command: Command, words: readonly string[]): Walk {
  const flags = new Map<string, string>();
  const given: string[] = [];
  let open: Option | undefined;
  let isLiteral = false;
  for (const word of words) {
    const isMore = open?.variadic === true && flags.has(nameOf(open));
    if (open !== undefined && !(isMore && word.startsWith('-'))) {
      // Bash splits --only=x into three words.
      if (word === '=') continue;
      flags.set(nameOf(open), word);
      if (!open.variadic) open = undefined;
      continue;
    }
    open = undefined;
    if (isLiteral || !word.startsWith('-') || word === '-') {
      given.push(word);
    } else if (word === '--') {
      isLiteral = true;
    } else {
      const [long = '', value] = word.split('=', 2);
      const option = optionIn(command, long);
      if (option === undefined) continue;
      const isOpen = value === undefined && option.required;
      if (isOpen) open = option;
      else flags.set(nameOf(option), value ?? '');
    }
  }
  return { open, flags, given, isLiteral };
}

function optionIn(command: Command, word: string): Option | undefined {
  return optionsIn(command).find(({ long, short }) => word === long || word === short);
}

/** Includes --help, which `command.options` does not contain. */
function optionsIn(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

function nameOf({ long, short }: Option): string {
  return long ?? short ?? '';
}

/** Returns the options that were not given yet, and those that accept several values. */
function optionsOf(command: Command, flags: ReadonlyMap<string, string>): readonly Candidate[] {
  return optionsIn(command)
    .filter((option) => option.variadic || !flags.has(nameOf(option)))
    .map((option) => ({ value: nameOf(option), description: option.description }));
}

function valueOf(option: Option, flags: ReadonlyMap<string, string>): Expected {
  if (option.argChoices !== undefined) return choices(option.argChoices);
  if (/<(?:file|folder|dir)/.test(option.flags)) return { kind: 'file' };
  // Other commands have --edge with an address instead of a name.
  if (option.flags === '--edge <name>') return { kind: 'edge', flags };
  return option.long === '--namespace' ? { kind: 'namespace', flags } : { kind: 'anything' };
}

function argumentAt(
  command: Command,
  given: readonly string[],
  flags: ReadonlyMap<string, string>,
): Expected {
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const argument: Argument | undefined =
    registeredArguments[given.length] ?? (last?.variadic === true ? last : undefined);
  const isFirst = given.length === 0 && flags.size === 0;
  const also = isFirst ? command.commands.map(asCandidate) : [];
  if (argument === undefined) return { kind: 'values', values: also };
  if (argument.argChoices !== undefined) return choices(argument.argChoices);
  if (argument.name() === 'folder') return { kind: 'file' };
  if (argument.name() === 'code') return { kind: 'code' };
  return argument.name() === 'exposure'
    ? { kind: 'exposure', flags, given, also }
    : { kind: 'anything' };
}

function asCandidate(command: Command): Candidate {
  return { value: command.name(), description: command.description() };
}

function choices(values: readonly string[]): Expected {
  return { kind: 'values', values: values.map((value) => ({ value })) };
}

function withPrefix(long: string, expected: Expected): Expected {
  if (expected.kind !== 'values') return expected;
  const values = expected.values.map(({ value }) => ({ value: `${long}=${value}` }));
  return { kind: 'values', values };
}
