import { Argument, Command } from 'commander';
import {
  ACCESS_FLAGS,
  exitWithAccessError,
  selectionOf,
  selectionsInFolder,
  folderOption,
  openManagement,
  exposureNames,
  proxyImageOption,
  rejectAccessFlags,
  rejectGiven,
  rejectContradictions,
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
import { READ_TIMEOUT_MS } from './sources/read-timeout.ts';
import { adviceIn, exitWithError, exitWithThrown, printAdvice } from './output/messages.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket doctor                           # all in the namespace
  snicket doctor tenants/blue tenants/red  # two Exposures
  snicket doctor -A -o json | jq .tally    # all, as JSON
  snicket doctor -f tenants.d              # instead of a cluster
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
const EXPOSURE_FLAGS = [...ACCESS_FLAGS, 'namespace', 'allNamespaces', 'proxyImage'];

/** Flags that do not apply with --pre. */
const PRE_CONFLICTS = [
  ...['fromWorker', 'filename', 'namespace', 'allNamespaces', 'proxyImage', 'timeout'],
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
      if (flags.pre) return runPreflight(io, exposures, flags, command);
      if (flags.fromWorker) return runOnWorker(io, exposures, flags, command);
      rejectGiven(WORKER_FLAGS, 'requires --from-worker', command);
      for (const exposure of exposures.length === 0 ? [undefined] : exposures) {
        rejectContradictions(exposure, flags, command);
      }
      if (flags.filename !== undefined)
        return runOnFolder(io, flags.filename, exposures, flags, command);
      return runOnCluster(io, exposures, flags, command);
    });
}

/** Runs the preflight checks on the management cluster. */
async function runPreflight(
  io: CommandIo,
  exposures: readonly NamedExposure[],
  flags: Flags,
  command: Command,
): Promise<void> {
  if (exposures.length > 0) exitWithError(command, '--pre accepts no names', 'remove them');
  rejectGiven(PRE_CONFLICTS, 'cannot be combined with --pre', command);
  const [plans, facts, preflight, report, texts, { withProgress }, { AccessError }] =
    await Promise.all([
      import('./plans/plans.ts'),
      import('./doctor/preflight/read-facts.ts'),
      import('./doctor/preflight/checks.ts'),
      import('./doctor/preflight/report.ts'),
      import('./output/output.ts'),
      import('./output/progress.ts'),
      import('../kube/access/cluster-access.ts'),
    ]);
  try {
    const { client } = await openManagement(io, flags);
    await plans.withErrorReporting(io, async () => {
      const reading = facts.readPreflightFacts(client, AbortSignal.timeout(READ_TIMEOUT_MS));
      const found = await withProgress(io, `reading ${client.server}`, reading);
      const checks = preflight.preflightChecks(found);
      io.stdout.write(
        flags.output === 'table'
          ? report.preflightText(checks, texts.currentScreen(io))
          : texts.valueText(report.preflightValue(client.server, checks), flags.output),
      );
      if (report.preflightTally(checks).fail > 0) io.exitCode = plans.EXIT.wrong;
    });
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    exitWithThrown(command, error);
  }
}

async function runOnCluster(
  io: CommandIo,
  exposures: readonly NamedExposure[],
  flags: Flags,
  command: Command,
): Promise<void> {
  // Imported lazily, so that help does not load it.
  const [
    { withErrorReporting },
    { proxyImageOf },
    { ManagementSnapshot },
    { diagnose },
    { withProgress },
    { AccessError },
  ] = await Promise.all([
    import('./plans/plans.ts'),
    import('./plans/dry-runs.ts'),
    import('../management/management-snapshot.ts'),
    import('./doctor/diagnose.ts'),
    import('./output/progress.ts'),
    import('../kube/access/cluster-access.ts'),
  ]);
  try {
    const { client, access } = await openManagement(io, flags);
    const choices = (exposures.length === 0 ? [undefined] : exposures).map((one) =>
      selectionOf(one, flags, access),
    );
    await withErrorReporting(io, async () => {
      const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
      const reading = ManagementSnapshot.read(client, signal);
      const management = await withProgress(io, `reading ${client.server}`, reading);
      const namespace = flags.operatorNamespace;
      const proxyImage =
        flags.proxyImage ?? (await proxyImageOf({ io, client, namespace }, signal));
      const { output, timeout } = flags;
      await diagnose(io, management, choices, { namespace, proxyImage, output, timeout });
    });
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    exitWithAccessError(command, error, flags, 'its folder: -f DIR');
  }
}

async function runOnFolder(
  io: CommandIo,
  folder: string,
  exposures: readonly NamedExposure[],
  flags: Flags,
  command: Command,
): Promise<void> {
  rejectAccessFlags(command);
  const [plans, { diagnose }, { openFolder, selectedInFolder }, { PROXY_IMAGE }] =
    await Promise.all([
      import('./plans/plans.ts'),
      import('./doctor/diagnose.ts'),
      import('./sources/folder-management.ts'),
      import('./plans/proxy-image.ts'),
    ]);
  const opened = await openFolder(io, folder, command);
  for (const fault of opened.faults) printAdvice(io, 'error', adviceIn(fault));
  const proxyImage = flags.proxyImage ?? PROXY_IMAGE;
  const { operatorNamespace: namespace, output, timeout } = flags;
  await plans.withErrorReporting(io, async () => {
    const choices = selectionsInFolder(exposures, flags);
    selectedInFolder(opened, choices);
    await diagnose(io, opened.management, choices, {
      namespace,
      proxyImage,
      isGatewayHere: true,
      output,
      timeout,
    });
  });
  if (opened.faults.length > 0) io.exitCode = plans.EXIT.failed;
}

async function runOnWorker(
  io: CommandIo,
  exposures: readonly NamedExposure[],
  flags: Flags,
  command: Command,
): Promise<void> {
  if (exposures.length > 0 || flags.filename !== undefined) {
    exitWithError(
      command,
      '--from-worker cannot be combined with names or -f',
      'remove them, or --from-worker',
    );
  }
  rejectGiven(EXPOSURE_FLAGS, 'cannot be combined with --from-worker', command);
  const words = workerArgumentsOf(flags, command);
  const [{ diagnoseWorker }, { InvalidArguments }] = await Promise.all([
    import('./doctor/diagnose.ts'),
    import('./doctor/from-worker.ts'),
  ]);
  try {
    await diagnoseWorker(io, words, flags);
  } catch (error) {
    if (!(error instanceof InvalidArguments)) throw error;
    exitWithThrown(command, error);
  }
}
