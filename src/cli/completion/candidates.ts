/**
 * Decides what a command line expects next, from the Commander definitions, so that completion matches the commands. Pure.
 */
import type { Argument, Command, Option } from 'commander';

/** A completion candidate and its description. */
export interface Candidate {
  readonly value: string;
  readonly description?: string | undefined;
}

/** What is expected at a position of the command line. */
export type Expected =
  /** One of these values. */
  | { readonly kind: 'values'; readonly values: readonly Candidate[] }
  /** The name of an Exposure that is not in `positionals` yet, or a subcommand. */
  | {
      readonly kind: 'exposure';
      readonly flags: ReadonlyMap<string, string>;
      readonly positionals: readonly string[];
      readonly subcommands: readonly Candidate[];
    }
  /** A namespace with Exposures. */
  | { readonly kind: 'namespace'; readonly flags: ReadonlyMap<string, string> }
  /** The name of an Edge. */
  | { readonly kind: 'edge'; readonly flags: ReadonlyMap<string, string> }
  /** The code of a finding, hop or check. */
  | { readonly kind: 'code' }
  /** A file or folder, which the shell completes. */
  | { readonly kind: 'file' }
  /** Free text, for which there are no candidates. */
  | { readonly kind: 'freeText' };

/** Returns what is expected after the arguments of a command. `toComplete` is the argument to complete. */
export function expectedAt(
  command: Command,
  args: readonly string[],
  toComplete: string,
): Expected {
  const [first, ...rest] = args;
  const subcommand = command.commands.find((candidate) => candidate.name() === first);
  if (subcommand !== undefined) return expectedAt(subcommand, rest, toComplete);
  const { pending, flags, positionals, isAfterTerminator } = parse(command, args);
  const isFlag = toComplete.startsWith('-');
  // A variadic option that has a value already ends at the next flag.
  const isPendingOver = pending !== undefined && flags.has(nameOf(pending)) && isFlag;
  if (pending !== undefined && !isPendingOver) return valueOf(pending, flags);
  if (!isAfterTerminator && isFlag) {
    const [long = '', value] = toComplete.split('=', 2);
    const option = optionIn(command, long);
    if (value === undefined) return { kind: 'values', values: optionsOf(command, flags) };
    return option === undefined ? { kind: 'freeText' } : withPrefix(long, valueOf(option, flags));
  }
  return positionalAt(command, positionals, flags);
}

interface ParsedArguments {
  /** The option that still needs its value, or is variadic and accepts another one. */
  readonly pending?: Option | undefined;
  /** The values of the options, by long name; empty for options without a value. */
  readonly flags: ReadonlyMap<string, string>;
  /** The arguments that are not options or their values. */
  readonly positionals: readonly string[];
  /** Whether the arguments contain `--`, after which nothing is an option. */
  readonly isAfterTerminator: boolean;
}

/** Parses the arguments from left to right, as Commander does. */
function parse(command: Command, args: readonly string[]): ParsedArguments {
  const flags = new Map<string, string>();
  const positionals: string[] = [];
  let pending: Option | undefined;
  let isAfterTerminator = false;
  for (const arg of args) {
    const acceptsMore = pending?.variadic === true && flags.has(nameOf(pending));
    if (pending !== undefined && !(acceptsMore && arg.startsWith('-'))) {
      // Bash splits `--only=x` into three words.
      if (arg === '=') continue;
      flags.set(nameOf(pending), arg);
      if (!pending.variadic) pending = undefined;
      continue;
    }
    pending = undefined;
    if (isAfterTerminator || !arg.startsWith('-') || arg === '-') {
      positionals.push(arg);
    } else if (arg === '--') {
      isAfterTerminator = true;
    } else {
      const [long = '', value] = arg.split('=', 2);
      const option = optionIn(command, long);
      if (option === undefined) continue;
      if (value === undefined && option.required) pending = option;
      else flags.set(nameOf(option), value ?? '');
    }
  }
  return { pending, flags, positionals, isAfterTerminator };
}

function optionIn(command: Command, flag: string): Option | undefined {
  return optionsIn(command).find(({ long, short }) => flag === long || flag === short);
}

/** Returns the options of a command, with --help, which `command.options` does not contain. */
function optionsIn(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

function nameOf({ long, short }: Option): string {
  return long ?? short ?? '';
}

/** Returns the options that `flags` does not contain yet, and the variadic options. */
function optionsOf(command: Command, flags: ReadonlyMap<string, string>): readonly Candidate[] {
  return optionsIn(command)
    .filter((option) => option.variadic || !flags.has(nameOf(option)))
    .map((option) => ({ value: nameOf(option), description: option.description }));
}

function valueOf(option: Option, flags: ReadonlyMap<string, string>): Expected {
  if (option.argChoices !== undefined) return choices(option.argChoices);
  if (/<(?:file|folder|dir)/.test(option.flags)) return { kind: 'file' };
  // `snicket doctor` has --edge with an address.
  if (option.flags === '--edge <name>') return { kind: 'edge', flags };
  return option.long === '--namespace' ? { kind: 'namespace', flags } : { kind: 'freeText' };
}

function positionalAt(
  command: Command,
  positionals: readonly string[],
  flags: ReadonlyMap<string, string>,
): Expected {
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const argument: Argument | undefined =
    registeredArguments[positionals.length] ?? (last?.variadic === true ? last : undefined);
  const isFirst = positionals.length === 0 && flags.size === 0;
  const subcommands = isFirst ? command.commands.map(asCandidate) : [];
  if (argument === undefined) return { kind: 'values', values: subcommands };
  if (argument.argChoices !== undefined) return choices(argument.argChoices);
  if (argument.name() === 'folder') return { kind: 'file' };
  if (argument.name() === 'code') return { kind: 'code' };
  return argument.name() === 'exposure'
    ? { kind: 'exposure', flags, positionals, subcommands }
    : { kind: 'freeText' };
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
