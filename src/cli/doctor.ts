import { Argument, Command } from 'commander';
import {
  ACCESS_FLAGS,
  folderOption,
  exposureNames,
  proxyImageOption,
  rejectGiven,
  stateOption,
  withClusterFlags,
  type ManagementFlags,
  type NamedExposure,
} from './flags/management-flags.ts';
import { edgeCommand } from './doctor/edge.ts';
import {
  WORKER_FLAGS,
  withWorkerFlags,
  workerArgumentsOf,
  type WorkerFlags,
} from './doctor/worker-flags.ts';
import { durationOption } from './flags/flag-values.ts';
import { outputOption, type Output } from './output/output.ts';
import { CommandError } from './output/messages.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket doctor                           # all in the namespace
  snicket doctor tenants/blue tenants/red  # two Exposures
  snicket doctor -A -o json | jq .tally    # all, as JSON
  snicket doctor -f tenants.d              # from a folder
  snicket doctor --state /var/lib/snicket  # from a state folder
  snicket doctor --pre                     # before an installation
  snicket doctor --from-worker --host blue.k8s.example.com \\
    --ca /etc/kubernetes/pki/ca.crt --edge 203.0.113.10:443

Each hop is probed from this machine, with its resolver and its network. This
command writes nothing. To explain a code: snicket explain CODE

Exit codes:
  0  no failures; there may be warnings
  1  failures
  2  invalid command line or file, no such Exposure, with -f no Exposure at all,
     or the management cluster cannot be read`;

/** Flags that select Exposures, which --from-worker does not accept. */
const EXPOSURE_FLAGS = [...ACCESS_FLAGS, 'state', 'namespace', 'allNamespaces', 'proxyImage'];

/** Flags that do not apply with --pre. */
const PRE_CONFLICTS = [
  ...['fromWorker', 'filename', 'state', 'namespace', 'allNamespaces', 'proxyImage', 'timeout'],
  ...WORKER_FLAGS,
];

interface Flags extends ManagementFlags, WorkerFlags {
  readonly output: Output;
  readonly pre: boolean;
  readonly timeout: number;
  readonly filename?: string;
}

/** `snicket doctor`: checks every hop on the path to tenants and suggests fixes. */
export function doctorCommand(io: CommandIo): Command {
  const command = withClusterFlags(new Command('doctor'))
    .addCommand(edgeCommand(io))
    .helpCommand(false) // an Exposure may be named help
    .description('Check every hop on the path to a tenant and suggest fixes')
    .addArgument(
      new Argument(
        '[exposure...]',
        'NAMESPACE/NAME or NAME (default: all in the namespace)',
      ).argParser(exposureNames),
    )
    .option('-A, --all-namespaces', 'Exposures of all namespaces', false)
    .addOption(proxyImageOption())
    .addOption(folderOption())
    .addOption(stateOption())
    .addOption(
      durationOption('--timeout', 'time limit of each step of a probe', {
        least: '1ms',
        most: '10m',
        fallback: '5s',
      }),
    )
    .addOption(outputOption())
    .option('--pre', 'check whether the cluster is ready for an installation of Snicket', false);
  return withWorkerFlags(command)
    .addHelpText('after', EXAMPLES)
    .action(async (named: readonly NamedExposure[] | undefined, flags: Flags, command: Command) => {
      const exposures = named ?? [];
      const { diagnose, diagnoseWorker, preflight } = await import('./doctor/diagnose.ts');
      if (flags.pre) {
        if (exposures.length > 0) throw new CommandError('--pre accepts no names', 'remove them');
        rejectGiven(PRE_CONFLICTS, 'cannot be combined with --pre', command);
        return preflight(io, flags);
      }
      if (!flags.fromWorker) {
        rejectGiven(WORKER_FLAGS, 'requires --from-worker', command);
        return diagnose(io, exposures, flags, command);
      }
      if (exposures.length > 0 || flags.filename !== undefined) {
        throw new CommandError(
          '--from-worker cannot be combined with names or -f',
          'remove them, or --from-worker',
        );
      }
      rejectGiven(EXPOSURE_FLAGS, 'cannot be combined with --from-worker', command);
      await diagnoseWorker(io, workerArgumentsOf(flags), flags);
    });
}
