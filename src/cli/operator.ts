import { Command } from 'commander';
import { hostname } from 'node:os';
import type { ListenAddress } from '../net/listen-address.ts';
import type { LogLevel } from '../telemetry/log.ts';
import { programLog } from './output/program-log.ts';
import { httpOption, logLevelOption, namespaceName } from './flags/flag-values.ts';
import {
  operatorOptionsOf,
  withOperatorFlags,
  type OperatorFlags,
} from './flags/operator-flags.ts';
import { withAccessFlags } from './flags/management-flags.ts';
import type { AccessFlags } from './io/open-access.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket operator --leader-elect  # in a pod of the management cluster
  snicket operator --dry-run       # print the plans and exit
  snicket operator --kubeconfig ~/.kube/config --http off

The last example is for development: outside the cluster, Services cannot be
reached. Without --leader-elect, the operator does not check for others: do not
start a second one. Use --dry-run instead.

Signals:
  TERM, INT  release the Lease and exit; a second signal exits immediately

Exit codes:
  0  stopped by a signal; with --dry-run: success
  1  fatal error; see the log. With --dry-run: errors, on standard error
  2  invalid command line or kubeconfig; with --dry-run: the management cluster
     cannot be read`;

interface Flags extends OperatorFlags, AccessFlags {
  readonly namespace?: string;
  readonly leaderElect: boolean;
  readonly http: readonly ListenAddress[];
  readonly dryRun: boolean;
  readonly logLevel: LogLevel;
}

/** `snicket operator`: runs the controllers for Edges and Exposures. */
export function operatorCommand(io: CommandIo): Command {
  const command = withAccessFlags(
    new Command('operator'),
    'kubeconfig of the management cluster (default: as kubectl, or in-cluster)',
  )
    .description('Run the controllers for Edges and Exposures')
    .option(
      '--namespace <name>',
      "namespace of the operator's Lease and of the gateway's Service and keys (default: that of the pod, or snicket-system)",
      namespaceName,
    )
    .option('--leader-elect', 'leader election: only one replica is active', false)
    .addOption(httpOption(':8080'));
  return withOperatorFlags(command)
    .option('--dry-run', 'print the plan of each Exposure and exit, without writing', false)
    .addOption(logLevelOption())
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags) => run(io, flags));
}

async function run(io: CommandIo, flags: Flags): Promise<void> {
  const log = await programLog(io, flags.logLevel);
  // Imported lazily, so that other commands do not load it.
  const [{ runOperator }, { createClient }, { Http2RoundTripper }, { openAccess }] =
    await Promise.all([
      import('../operator/run-operator.ts'),
      import('../kube/client/fetch-client.ts'),
      import('../kube/transport/http2/http2-round-tripper.ts'),
      import('./io/open-access.ts'),
    ]);
  const access = openAccess(io, flags);
  const isPod = access.credentials.kind === 'token-file';
  const namespace = flags.namespace ?? (isPod ? access.namespace : 'snicket-system');
  if (flags.dryRun) {
    const { printPlans } = await import('./plans/plans.ts');
    const client = createClient(access);
    return printPlans(io, { client, namespace, proxyImage: flags.proxyImage });
  }
  const client = createClient(access, { roundTripper: new Http2RoundTripper(access) });
  const { http, leaderElect } = flags;
  const options = { namespace, identity: identity(), http, leaderElect };
  const code = await runOperator(client, { ...options, ...operatorOptionsOf(flags) }, log);
  io.exit(code); // watches on a lost connection would keep the process alive
}

/** Returns the name of the pod with a random suffix, because a restarted process is another candidate. */
function identity(): string {
  return `${hostname()}_${crypto.randomUUID().slice(0, 8)}`;
}
