import { Command, Option } from 'commander';
import { hostname } from 'node:os';
import type { ListenAddress } from '../net/listen-address.ts';
import { LOG_LEVELS, type LogLevel } from '../telemetry/log.ts';
import { programLog } from './output/program-log.ts';
import { fileName, namespaceName, parseHttp } from './flags/flag-values.ts';
import {
  operatorOptionsOf,
  withOperatorFlags,
  type OperatorFlags,
} from './flags/operator-flags.ts';
import { accessOptions } from './io/access-options.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket operator --leader-elect  # in a pod of the management cluster
  snicket operator --dry-run       # print what it would write, and end
  snicket operator --kubeconfig ~/.kube/config --http off

The last is for a terminal; Services are reached from inside the cluster only.
Without --leader-elect it does not check for other operators: do not start it
where one runs; use --dry-run there.

Signals:
  TERM, INT  give the lease back and end; once more: end at once

Exit codes:
  0  told to end; with --dry-run: printed
  1  it could not go on; the log says why. With --dry-run: lines with error: say
     what is wrong
  2  the command line or the kubeconfig is at fault; with --dry-run: the
     management cluster cannot be read`;

interface Flags extends OperatorFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly leaderElect: boolean;
  readonly http: readonly ListenAddress[];
  readonly dryRun: boolean;
  readonly logLevel: LogLevel;
}

/** `snicket operator`: runs the controllers for Edges and Exposures. */
export function operatorCommand(io: CommandIo): Command {
  const command = new Command('operator')
    .description('carry out the Edges and Exposures of a management cluster')
    .option(
      '--kubeconfig <file>',
      'how to reach it; default: as kubectl does, or the pod itself',
      fileName,
    )
    .option('--context <name>', 'the context of the kubeconfig')
    .option(
      '--namespace <name>',
      "where the operator's Lease and the gateway's Service and keys are; default: the pod's own, or snicket-system",
      namespaceName,
    )
    .option('--leader-elect', 'let only one of several replicas work', false)
    .addOption(
      new Option('--http <address>', 'where /healthz, /readyz and /metrics are, or off')
        .argParser(parseHttp)
        .default(parseHttp(':8080'), ':8080'),
    );
  return withOperatorFlags(command)
    .option('--dry-run', 'print the plan of every Exposure, write nothing, end', false)
    .addOption(
      new Option('--log-level <level>', 'what to log on standard error')
        .choices(LOG_LEVELS)
        .default('info'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags, command: Command) => run(io, flags, command));
}

async function run(io: CommandIo, flags: Flags, command: Command): Promise<void> {
  const log = await programLog(io, flags.logLevel);
  // Imported lazily, so that other commands do not load it.
  const [
    { runOperator },
    { createClient },
    { Http2RoundTripper },
    { defaultAccess },
    { AccessError },
  ] = await Promise.all([
    import('../operator/run-operator.ts'),
    import('../kube/client/fetch-client.ts'),
    import('../kube/transport/http2/http2-round-tripper.ts'),
    import('../kube/access/default-access.ts'),
    import('../kube/access/cluster-access.ts'),
  ]);
  try {
    const access = defaultAccess(accessOptions(io, flags.kubeconfig, flags.context));
    const isPod = access.credentials.kind === 'token-file';
    const namespace = flags.namespace ?? (isPod ? access.namespace : 'snicket-system');
    if (flags.dryRun) {
      const { printPlans } = await import('./plans/plans.ts');
      const client = createClient(access);
      await printPlans(io, { client, namespace, proxyImage: flags.proxyImage });
      return;
    }
    const client = createClient(access, { roundTripper: new Http2RoundTripper(access) });
    const code = await runOperator(
      client,
      {
        namespace,
        identity: identity(),
        http: flags.http,
        leaderElect: flags.leaderElect,
        ...operatorOptionsOf(flags),
      },
      log,
    );
    io.exit(code); // watches on a lost connection would keep the process alive
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    command.error(`error: ${error.message}`);
  }
}

/** Returns the name of the pod with a random suffix, because a restarted process is another candidate. */
function identity(): string {
  return `${hostname()}_${crypto.randomUUID().slice(0, 8)}`;
}
