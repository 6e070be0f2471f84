import { Command, InvalidArgumentError, Option } from 'commander';
import { hostname } from 'node:os';
import manifest from '../../package.json' with { type: 'json' };
import { parseListenAddress, type ListenAddress } from '../engine/listen-address.ts';
import { createLogger, LOG_LEVELS, type LogLevel } from '../telemetry/log.ts';

const EXAMPLES = `
Examples:
  snicket operator --leader-elect                              # in a pod of the management cluster
  snicket operator --kubeconfig ~/.kube/config --http off      # from a terminal; reaches Services only from inside
  snicket operator --dry-run                                   # print what it would write, and end

Signals:
  TERM, INT  give the lease back and end; once more: end at once`;

interface Flags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly leaderElect: boolean;
  readonly proxyImage: string;
  readonly http: readonly ListenAddress[];
  readonly concurrency: number;
  readonly resync: number;
  readonly probe: number;
  readonly leaveTimeout: number;
  readonly dryRun: boolean;
  readonly logLevel: LogLevel;
}

/** `snicket operator`: carries out the Exposures of a management cluster. */
export function operatorCommand(): Command {
  return new Command('operator')
    .description('carry out the Edges and Exposures of a management cluster')
    .option('--kubeconfig <file>', 'how to reach it; default: as kubectl does, or the pod itself')
    .option('--context <name>', 'the context of the kubeconfig')
    .option(
      '--namespace <name>',
      "where the operator's Lease and the gateway's Service and keys are; default: the pod's own, or snicket-system",
    )
    .option('--leader-elect', 'let only one of several replicas work', false)
    .option(
      '--proxy-image <image>',
      'the image of the proxy, for Exposures that name none',
      `snicket.dev/snicket:${manifest.version}`,
    )
    .addOption(
      new Option('--http <address>', 'where /healthz, /readyz and /metrics are, or off')
        .argParser(parseHttp)
        .default(parseHttp(':8080'), ':8080'),
    )
    .option('--concurrency <n>', 'Exposures that are looked at together', wholeNumber(1, 1000), 32)
    .option(
      '--resync <seconds>',
      'between two reads of the Secrets of a steady Exposure; five times that between two looks at all of it',
      wholeNumber(5, 86_400),
      120,
    )
    .option('--probe <seconds>', 'between two probes of an Exposure', wholeNumber(5, 86_400), 60)
    .option(
      '--leave-timeout <seconds>',
      'how long a deleted Exposure waits for a tenant that cannot be reached',
      wholeNumber(1, 86_400),
      300,
    )
    .option('--dry-run', 'print the plan of every Exposure, write nothing, end', false)
    .addOption(
      new Option('--log-level <level>', 'what to log on standard error')
        .choices(LOG_LEVELS)
        .default('info'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags, command: Command) => run(flags, command));
}

async function run(flags: Flags, command: Command): Promise<void> {
  const log = createLogger({ level: flags.logLevel });
  // Loaded here, so that the other commands do not pay for it.
  const [{ runOperator }, { createClient }, { defaultAccess }, { AccessError }] = await Promise.all(
    [
      import('../operator/run-operator.ts'),
      import('../kube/fetch-client.ts'),
      import('../kube/cluster-access-default.ts'),
      import('../kube/cluster-access.ts'),
    ],
  );
  try {
    const access = defaultAccess({ kubeconfig: flags.kubeconfig, context: flags.context });
    const client = createClient(access);
    const isPod = access.credentials.kind === 'token-file';
    const namespace = flags.namespace ?? (isPod ? access.namespace : 'snicket-system');
    if (flags.dryRun) {
      const { printPlans } = await import('./plans.ts');
      await printPlans({ client, namespace, proxyImage: flags.proxyImage });
      return;
    }
    const code = await runOperator(
      client,
      {
        ...{ namespace, identity: identity(), http: flags.http },
        ...{ leaderElect: flags.leaderElect, proxyImage: flags.proxyImage },
        ...{ concurrency: flags.concurrency, resyncMs: flags.resync * 1000 },
        ...{ probeMs: flags.probe * 1000, leaveTimeoutMs: flags.leaveTimeout * 1000 },
      },
      log,
    );
    process.exit(code); // watches that hang on a lost connection would keep the process
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    command.error(`error: ${error.message}`);
  }
}

/** The name of the pod, and something of its own: a process that starts anew is another one. */
function identity(): string {
  return `${hostname()}_${crypto.randomUUID().slice(0, 8)}`;
}

function parseHttp(text: string): readonly ListenAddress[] {
  if (text === 'off') return [];
  try {
    return parseListenAddress(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? `${error.message}.` : String(error));
  }
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`);
  };
}
