import { Command, CommanderError } from 'commander';
import { tcpProxyWords } from './cli/tcp-proxy-words.ts';

/** Exit code for a command line that cannot be understood, as in most Unix tools. */
const USAGE_ERROR = 2;

/** Each is loaded when it is asked for: the gateway need not carry what only the proxy uses, nor the other way round. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['address', async () => (await import('./cli/address.ts')).addressCommand()],
  ['completion', async () => (await import('./cli/completion.ts')).completionCommand()],
  ['diff', async () => (await import('./cli/diff.ts')).diffCommand()],
  ['dns', async () => (await import('./cli/dns.ts')).dnsCommand()],
  ['gateway', async () => (await import('./cli/gateway.ts')).gatewayCommand()],
  ['kubeconfig', async () => (await import('./cli/kubeconfig.ts')).kubeconfigCommand()],
  ['operator', async () => (await import('./cli/operator.ts')).operatorCommand()],
  ['proxy', async () => (await import('./cli/proxy.ts')).proxyCommand()],
  ['render', async () => (await import('./cli/render.ts')).renderCommand()],
  ['tcp-proxy', async () => (await import('./cli/tcp-proxy.ts')).tcpProxyCommand()],
  ['tenant-key', async () => (await import('./cli/tenant-key.ts')).tenantKeyCommand()],
  ['version', async () => (await import('./cli/version.ts')).versionCommand()],
]);

const program = new Command('snicket')
  .description('One address for every hosted Kubernetes control plane.')
  .exitOverride();

const words = tcpProxyWords(process.argv.slice(2));
if (words[0] === '__complete') {
  // By a shell, at each Tab. Not a command of Commander's, which would take the words behind it for its own.
  const { endWithAnswer } = await import('./cli/completion/answer.ts');
  await endWithAnswer(words.slice(1), COMMANDS);
}
const asked = COMMANDS.get(words[0] ?? '');
for (const load of asked === undefined ? COMMANDS.values() : [asked]) {
  // addCommand() alone would let a subcommand exit by itself, with Commander's code 1.
  program.addCommand((await load()).copyInheritedSettings(program));
}

try {
  await program.parseAsync(words.length === 0 ? ['help'] : words, { from: 'user' });
} catch (error) {
  // Commander has already printed the help, or the sentence that says what is wrong.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
}
