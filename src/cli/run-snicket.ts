import { Command, CommanderError, Help } from 'commander';
import { escapedText } from '../text/plain-text.ts';
import { tcpProxyWords } from './flags/tcp-proxy-words.ts';
import type { CommandIo, OutputStream } from './io/command-io.ts';
import { inNameOf, programName } from './output/program-name.ts';
import { fittingLine } from './output/say.ts';
import { endWithOutput } from './output/standard-output.ts';

/** Exit code for a command line that cannot be understood, as in most Unix tools. */
const USAGE_ERROR = 2;

/** Each is loaded when it is asked for: the gateway need not carry what only the proxy uses, nor the other way round. */
const COMMANDS: ReadonlyMap<string, (io: CommandIo) => Promise<Command>> = new Map([
  ['address', async (io) => (await import('./address.ts')).addressCommand(io)],
  ['completion', async (io) => (await import('./completion.ts')).completionCommand(io)],
  ['diff', async (io) => (await import('./diff.ts')).diffCommand(io)],
  ['dns', async (io) => (await import('./dns.ts')).dnsCommand(io)],
  ['doctor', async (io) => (await import('./doctor.ts')).doctorCommand(io)],
  ['expose', async (io) => (await import('./expose.ts')).exposeCommand(io)],
  ['gateway', async (io) => (await import('./gateway.ts')).gatewayCommand(io)],
  ['kubeconfig', async (io) => (await import('./kubeconfig.ts')).kubeconfigCommand(io)],
  ['operator', async (io) => (await import('./operator.ts')).operatorCommand(io)],
  ['proxy', async (io) => (await import('./proxy.ts')).proxyCommand(io)],
  ['render', async (io) => (await import('./render.ts')).renderCommand(io)],
  ['run', async (io) => (await import('./run.ts')).runCommand(io)],
  ['status', async (io) => (await import('./status.ts')).statusCommand(io)],
  ['tcp-proxy', async (io) => (await import('./tcp-proxy.ts')).tcpProxyCommand(io)],
  ['tenant-key', async (io) => (await import('./tenant-key.ts')).tenantKeyCommand(io)],
  ['version', async (io) => (await import('./version.ts')).versionCommand(io)],
] as const satisfies [string, (io: CommandIo) => Promise<Command>][]);

/** Runs the command in `typed` and sets `io.exitCode`. */
export async function runSnicket(typed: readonly string[], io: CommandIo): Promise<void> {
  const words = tcpProxyWords(typed).map((word, at) =>
    // As most programs know it.
    at === 0 && (word === '--version' || word === '-V') ? 'version' : word,
  );
  if (words[0] === '__complete') {
    // By a shell, at each Tab. Not a command of Commander's, which would take the words behind it for its own.
    const { endWithAnswer } = await import('./completion/answer.ts');
    return endWithAnswer(io, words.slice(1), COMMANDS);
  }
  // These log on standard error, and need not open standard output.
  const isServer = /^(?:gateway|operator|proxy|run|tcp-proxy)$/.test(words[0] ?? '');
  if (!isServer) endWithOutput(io);
  const program = programOf(io);
  const asked = COMMANDS.get(words[0] ?? '');
  for (const load of asked === undefined ? COMMANDS.values() : [asked]) {
    // addCommand() alone would let a subcommand exit by itself, with Commander's code 1; so would one of its own.
    const command = (await load(io)).copyInheritedSettings(program);
    for (const part of command.commands) part.copyInheritedSettings(command);
    program.addCommand(command);
  }
  try {
    await program.parseAsync(helpWords(words), { from: 'user' });
  } catch (error) {
    // Commander has already printed the help, or the sentence that says what is wrong.
    if (!(error instanceof CommanderError)) throw error;
    io.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
  }
}

/** The program, without its commands. */
function programOf(io: CommandIo): Command {
  const name = programName(io);
  const inOurName = (text: string) => inNameOf(name, text, COMMANDS.keys());
  return (
    new Command(name)
      .description('One address for every hosted Kubernetes control plane.')
      // For the eye alone: it is the command `version` that is run.
      .option('-V, --version', 'print the version of snicket and of its runtime')
      .configureOutput({
        writeOut: (text) => io.stdout.write(inOurName(text)),
        // It quotes words that may come from anywhere, by a script.
        writeErr: (text) =>
          io.stderr.write(
            text
              .split('\n')
              .map((line) => errorLine(io, line))
              .join('\n'),
          ),
        getOutHelpWidth: () => widthOf(io.stdout),
        getErrHelpWidth: () => widthOf(io.stderr),
      })
      .configureHelp({
        // Below its default of 40, long options are followed by lines that are not wrapped at all.
        minWidthToWrap: 20,
        boxWrap(text, width) {
          // Before it is wrapped, for `kubectl snicket` is longer.
          return Help.prototype.boxWrap.call(this, inOurName(text), width);
        },
      })
      // Handed down too: what comes behind `doctor edge` is meant for that, not for `doctor`.
      .enablePositionalOptions()
      .exitOverride()
  );
}

/** Commander's own default is the width of the process. */
function widthOf({ isTTY, columns = 80 }: OutputStream): number {
  return isTTY ? columns : 80;
}

/** Lines of a help are wrapped already, and have their own indentation. */
function errorLine(io: CommandIo, line: string): string {
  return line.startsWith('error: ') ? fittingLine(io, line) : escapedText(line);
}

/** Commander shows its help for a command that it does not know, and does not say so; asked for that command itself, it does. */
function helpWords(typed: readonly string[]): readonly string[] {
  const [first = 'help', second] = typed;
  const isMistaken = first === 'help' && second !== undefined && !COMMANDS.has(second);
  return isMistaken && !second.startsWith('-') ? [second] : [first, ...typed.slice(1)];
}
