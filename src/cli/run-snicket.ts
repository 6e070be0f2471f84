import { Command, CommanderError, Help, type Option } from 'commander';
import { escapedText } from '../text/plain-text.ts';
import { tcpProxyArguments } from './flags/tcp-proxy-arguments.ts';
import type { CommandIo, OutputStream } from './io/command-io.ts';
import { usageErrorText } from './output/usage-error.ts';
import { inNameOf, programName } from './output/program-name.ts';
import { fittedLine } from './output/messages.ts';
import { endWithOutput } from './output/standard-output.ts';

/** Exit code for a command line that cannot be understood, as in most Unix tools. */
const USAGE_ERROR = 2;

type LoadCommand = (io: CommandIo) => Promise<Command>;

/**
 * The commands by their heading in the help. Each is imported on demand, so that the gateway does not load what only the
 * proxy uses, and vice versa.
 */
export const GROUPS: Readonly<Record<string, readonly (readonly [string, LoadCommand])[]>> = {
  'Everyday commands:': [
    ['expose', async (io) => (await import('./expose.ts')).exposeCommand(io)],
    ['status', async (io) => (await import('./status.ts')).statusCommand(io)],
    ['doctor', async (io) => (await import('./doctor.ts')).doctorCommand(io)],
    ['explain', async (io) => (await import('./explain.ts')).explainCommand(io)],
    ['render', async (io) => (await import('./render.ts')).renderCommand(io)],
    ['diff', async (io) => (await import('./diff.ts')).diffCommand(io)],
    ['dns', async (io) => (await import('./dns.ts')).dnsCommand(io)],
    ['kubeconfig', async (io) => (await import('./kubeconfig.ts')).kubeconfigCommand(io)],
  ],
  'Components:': [
    ['operator', async (io) => (await import('./operator.ts')).operatorCommand(io)],
    ['gateway', async (io) => (await import('./gateway.ts')).gatewayCommand(io)],
    ['proxy', async (io) => (await import('./proxy.ts')).proxyCommand(io)],
    ['tcp-proxy', async (io) => (await import('./tcp-proxy.ts')).tcpProxyCommand(io)],
    ['run', async (io) => (await import('./run.ts')).runCommand(io)],
  ],
  'Advanced commands:': [
    ['address', async (io) => (await import('./address.ts')).addressCommand(io)],
    ['tenant-key', async (io) => (await import('./tenant-key.ts')).tenantKeyCommand(io)],
    ['completion', async (io) => (await import('./completion.ts')).completionCommand(io)],
    ['version', async (io) => (await import('./version.ts')).versionCommand(io)],
  ],
};

const COMMANDS: ReadonlyMap<string, LoadCommand> = new Map(Object.values(GROUPS).flat());

/** Runs the command in `typed` and sets `io.exitCode`. Tests may pass other commands. */
export async function runSnicket(
  typed: readonly string[],
  io: CommandIo,
  groups = GROUPS,
): Promise<void> {
  const all = new Map(Object.values(groups).flat());
  const words = tcpProxyArguments(typed).map((word, at) =>
    // As in most programs.
    at === 0 && (word === '--version' || word === '-V') ? 'version' : word,
  );
  if (words[0] === '__complete') {
    // Shells call this at each Tab. It is not a command of Commander, which would parse the words after it as its own.
    const { printCompletionsAndExit } = await import('./completion/complete.ts');
    return printCompletionsAndExit(io, words.slice(1), all);
  }
  // Servers log on standard error and do not need to open standard output, except for their help.
  const isHelp = words.some((word) => word === '--help' || word === '-h');
  const isServer = !isHelp && /^(?:gateway|operator|proxy|run|tcp-proxy)$/.test(words[0] ?? '');
  if (!isServer) endWithOutput(io);
  const program = programOf(io, words);
  const isOne = all.has(words[0] ?? '');
  for (const [heading, commands] of Object.entries(groups)) {
    program.commandsGroup(heading);
    for (const [name, load] of commands) {
      if (isOne && name !== words[0]) continue;
      // With addCommand() alone, a subcommand would exit by itself, with Commander's code 1. The same applies to its own
      // subcommands.
      const command = (await load(io)).copyInheritedSettings(program);
      for (const part of command.commands) part.copyInheritedSettings(command);
      program.addCommand(command);
    }
  }
  program.helpCommand('help [command]', 'Help about any command');
  try {
    await program.parseAsync(helpWords(words), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      const { reportError } = await import('./output/report-error.ts');
      return reportError(io, error);
    }
    // Commander has already printed the help, or the error.
    io.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
  }
}

/** Returns the program without its commands. */
function programOf(io: CommandIo, words: readonly string[]): Command {
  const name = programName(io);
  const inOurName = (text: string) => inNameOf(name, text, COMMANDS.keys());
  const program = new Command(name);
  return (
    program
      .description('One address for every hosted Kubernetes control plane.')
      // Only for the help: the command `version` runs instead.
      .option('-V, --version', 'version of snicket and of its runtime')
      .helpOption('-h, --help', 'help for this command')
      .configureOutput({
        writeOut: (text) => io.stdout.write(inOurName(text)),
        // Escapes control characters, because the message quotes arguments, which a script may get from anywhere.
        writeErr: (text) =>
          io.stderr.write(
            usageErrorText(text, usageHint(program, words))
              .split('\n')
              .map((line) => errorLine(io, line))
              .join('\n'),
          ),
        getOutHelpWidth: () => widthOf(io.stdout),
        getErrHelpWidth: () => widthOf(io.stderr),
      })
      .configureHelp({
        // With Commander's default of 40, the descriptions of long options would not be wrapped at all.
        minWidthToWrap: 20,
        optionDescription,
        subcommandTerm: (command) => command.name(),
        boxWrap(text, width) {
          // Replaced before the text is wrapped, because `kubectl snicket` is longer.
          return Help.prototype.boxWrap.call(this, inOurName(text), width);
        },
      })
      // Subcommands inherit this: options after `doctor edge` belong to that command, not to `doctor`.
      .enablePositionalOptions()
      .exitOverride()
  );
}

/** Returns what to do about an invalid command line: usually `see: snicket doctor edge --help`. */
function usageHint(program: Command, words: readonly string[]): string {
  const late = program.commands.find((one) => words.slice(1).includes(one.name()));
  if (words[0]?.startsWith('-') === true && late !== undefined) {
    return `write options after the command: ${program.name()} ${late.name()} ${words[0]} ...`;
  }
  const command = program.commands.find((one) => one.name() === words[0]);
  const subcommand = command?.commands.find((one) => one.name() === words[1]);
  const names = [program, command, subcommand].flatMap((one) => one?.name() ?? []);
  return `see: ${[...names, '--help'].join(' ')}`;
}

/** Returns a description with its choices, default and variable. A flag without a value is off by default. */
function optionDescription(option: Option): string {
  const { description, argChoices, defaultValueDescription, envVar } = option;
  const defaultValue: unknown = option.defaultValue;
  const hasValue = option.required || option.optional;
  const fallback = defaultValueDescription ?? String(defaultValue);
  const notes = [
    ...(argChoices === undefined ? [] : [`one of: ${argChoices.join(', ')}`]),
    ...(hasValue && defaultValue !== undefined ? [`default: ${fallback}`] : []),
    ...(envVar === undefined ? [] : [`env: ${envVar}`]),
  ];
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
}

/** Returns the width of this stream. Commander uses that of the process by default. */
function widthOf({ isTTY, columns = 80 }: OutputStream): number {
  return isTTY ? columns : 80;
}

/**
 * Returns a line of Commander's error output. Only errors are wrapped here: help lines are wrapped already, with their
 * own indentation.
 */
function errorLine(io: CommandIo, line: string): string {
  return /^(?:error|hint): /.test(line) ? fittedLine(io, line) : escapedText(line);
}

/**
 * Returns the words to parse. For `help UNKNOWN`, Commander prints its help and no error. For `UNKNOWN` alone, it
 * prints the error.
 */
function helpWords(typed: readonly string[]): readonly string[] {
  const [first = 'help', second] = typed;
  const isMistaken = first === 'help' && second !== undefined && !COMMANDS.has(second);
  return isMistaken && !second.startsWith('-') ? [second] : [first, ...typed.slice(1)];
}
