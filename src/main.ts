import { Command, CommanderError, Help } from 'commander';
import { endWithOutput } from './cli/output/standard-output.ts';
import { inNameOf, programName } from './cli/output/program-name.ts';
import { fittingLine } from './cli/output/say.ts';
import { tcpProxyWords } from './cli/flags/tcp-proxy-words.ts';
import { escapedText } from './text/plain-text.ts';

/** Exit code for a command line that cannot be understood, as in most Unix tools. */
const USAGE_ERROR = 2;

/** Each is loaded when it is asked for: the gateway need not carry what only the proxy uses, nor the other way round. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['address', async () => (await import('./cli/address.ts')).addressCommand()],
  ['completion', async () => (await import('./cli/completion.ts')).completionCommand()],
  ['diff', async () => (await import('./cli/diff.ts')).diffCommand()],
  ['dns', async () => (await import('./cli/dns.ts')).dnsCommand()],
  ['doctor', async () => (await import('./cli/doctor.ts')).doctorCommand()],
  ['expose', async () => (await import('./cli/expose.ts')).exposeCommand()],
  ['gateway', async () => (await import('./cli/gateway.ts')).gatewayCommand()],
  ['kubeconfig', async () => (await import('./cli/kubeconfig.ts')).kubeconfigCommand()],
  ['operator', async () => (await import('./cli/operator.ts')).operatorCommand()],
  ['proxy', async () => (await import('./cli/proxy.ts')).proxyCommand()],
  ['render', async () => (await import('./cli/render.ts')).renderCommand()],
  ['run', async () => (await import('./cli/run.ts')).runCommand()],
  ['status', async () => (await import('./cli/status.ts')).statusCommand()],
  ['tcp-proxy', async () => (await import('./cli/tcp-proxy.ts')).tcpProxyCommand()],
  ['tenant-key', async () => (await import('./cli/tenant-key.ts')).tenantKeyCommand()],
  ['version', async () => (await import('./cli/version.ts')).versionCommand()],
]);

const name = programName();
const program = new Command(name)
  .description('One address for every hosted Kubernetes control plane.')
  // For the eye alone: it is the command `version` that is run.
  .option('-V, --version', 'print the version of snicket and of its runtime')
  .configureOutput({
    writeOut: (text) => process.stdout.write(inOurName(text)),
    // It quotes words that may come from anywhere, by a script.
    writeErr: (text) => process.stderr.write(text.split('\n').map(errorLine).join('\n')),
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
  .exitOverride();

const words = tcpProxyWords(process.argv.slice(2)).map((word, at) =>
  // As most programs know it.
  at === 0 && (word === '--version' || word === '-V') ? 'version' : word,
);
if (words[0] === '__complete') {
  // By a shell, at each Tab. Not a command of Commander's, which would take the words behind it for its own.
  const { endWithAnswer } = await import('./cli/completion/answer.ts');
  await endWithAnswer(words.slice(1), COMMANDS);
}
// These log on standard error, and need not open standard output.
const isServer = /^(?:gateway|operator|proxy|run|tcp-proxy)$/.test(words[0] ?? '');
if (!isServer) endWithOutput();
const asked = COMMANDS.get(words[0] ?? '');
for (const load of asked === undefined ? COMMANDS.values() : [asked]) {
  // addCommand() alone would let a subcommand exit by itself, with Commander's code 1; so would one of its own.
  const command = (await load()).copyInheritedSettings(program);
  for (const part of command.commands) part.copyInheritedSettings(command);
  program.addCommand(command);
}

try {
  await program.parseAsync(helpWords(words), { from: 'user' });
} catch (error) {
  // Commander has already printed the help, or the sentence that says what is wrong.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
}

/** Lines of a help are wrapped already, and have their own indentation. */
function errorLine(line: string): string {
  return line.startsWith('error: ') ? fittingLine(line) : escapedText(line);
}

function inOurName(text: string): string {
  return inNameOf(name, text, COMMANDS.keys());
}

/** Commander shows its help for a command that it does not know, and does not say so; asked for that command itself, it does. */
function helpWords(typed: readonly string[]): readonly string[] {
  const [first = 'help', second] = typed;
  const isMistaken = first === 'help' && second !== undefined && !COMMANDS.has(second);
  return isMistaken && !second.startsWith('-') ? [second] : [first, ...typed.slice(1)];
}
