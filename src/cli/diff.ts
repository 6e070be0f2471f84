import { Command, Option } from 'commander';
import type { DryRun } from '../reconcile/dry-run.ts';
import { CLUSTERS, type Cluster } from '../plan/render.ts';
import { selectionIn, filesOption, fileSourceOf, validObjects } from './sources/file-source.ts';
import {
  exitWithAccessError,
  selectionOf,
  openManagement,
  rejectGiven,
  rejectContradictions,
  stateFolderOf,
  stateOption,
  withManagementFlags,
  type ManagementFlags,
  type NamedExposure,
} from './flags/management-flags.ts';
import { exitWithThrown, printMessage } from './output/messages.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket diff tenants/blue  # what the operator would change now
  snicket diff -A -o json    # all Exposures, as JSON
  snicket diff -A > /dev/null && echo no drift
  snicket diff -f blue.yaml  # as if this file were applied
  snicket diff -f edge.yaml -A
  snicket diff -f /etc/snicket --state /var/lib/snicket

~ marks a change, + an addition, - a deletion; (not before ...) names the
condition to wait for. This command writes nothing and shows no secret values.

Exit codes:
  0  no changes
  1  changes found
  2  invalid command line, no such Exposure, with -f no Exposure at all, or
     objects that cannot be compared`;

interface Flags extends ManagementFlags {
  readonly filename?: readonly string[];
  readonly state?: string;
  readonly only?: Cluster;
  readonly output: 'text' | 'json' | 'yaml';
}

/** `snicket diff`: shows what the operator would change. */
export function diffCommand(io: CommandIo): Command {
  return withManagementFlags(new Command('diff'))
    .description('Show what the operator would change in the management cluster and in tenants')
    .addOption(filesOption(', compared as if applied'))
    .addOption(stateOption())
    .addOption(
      new Option('--only <cluster>', 'objects of one cluster only (default: both)').choices(
        CLUSTERS,
      ),
    )
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(['text', 'json', 'yaml'])
        .default('text'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (exposure: NamedExposure | undefined, flags: Flags, command: Command) => {
      const [{ AccessError }, { StateUnreadable }, { withErrorReporting }] = await Promise.all([
        import('../kube/access/cluster-access.ts'),
        import('./status/state-source.ts'),
        import('./plans/plans.ts'),
      ]);
      try {
        const runs = await dryRunsFor(io, exposure, flags, command);
        if (runs !== undefined) await withErrorReporting(io, async () => diff(io, runs, flags));
      } catch (error) {
        if (error instanceof StateUnreadable) exitWithThrown(command, error);
        if (!(error instanceof AccessError)) throw error;
        const folder = 'its folder: -f DIR';
        exitWithAccessError(command, error, flags, folder);
      }
    });
}

type DryRuns = AsyncIterable<DryRun>;

/** Returns the dry runs to show, or undefined if files are invalid, which has been reported. @throws AccessError */
async function dryRunsFor(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  flags: Flags,
  command: Command,
): Promise<DryRuns | undefined> {
  if (flags.filename !== undefined)
    return dryRunsWith(io, flags.filename, exposure, flags, command);
  rejectContradictions(exposure, flags, command);
  rejectGiven(['state'], 'requires -f with the folder of snicket run', command);
  const [{ dryRuns }, { selectedOrFail }] = await Promise.all([
    import('./plans/dry-runs.ts'),
    import('./sources/selected-exposures.ts'),
  ]);
  const { client, access } = await openManagement(io, flags);
  const choice = selectionOf(exposure, flags, access);
  const { operatorNamespace: namespace, proxyImage, only } = flags;
  const choose = (all: Parameters<typeof selectedOrFail>[0]) => selectedOrFail(all, choice);
  return dryRuns({ io, client, namespace, proxyImage, only, choose });
}

/** Returns the dry runs for the files of -f. */
async function dryRunsWith(
  io: CommandIo,
  words: readonly string[],
  exposure: NamedExposure | undefined,
  flags: Flags,
  command: Command,
): Promise<DryRuns | undefined> {
  const source = fileSourceOf(io, words, exposure, flags, command);
  const { dryRunsApplied, dryRunsOfFolder } = await import('./sources/diff-sources.ts');
  const { state, proxyImage, only, operatorNamespace } = flags;
  if (source.folder !== undefined) {
    const { reading } = (await validObjects(io, source, command)) ?? {};
    const stateFolder = (await stateFolderOf(io, { state, isFolder: true })) ?? '';
    const places = {
      folder: source.folder,
      state: stateFolder,
      choice: selectionIn(source, flags),
    };
    return reading && dryRunsOfFolder({ io, reading, ...places, proxyImage, only });
  }
  rejectGiven(['state'], 'requires the folder of snicket run in -f', command);
  const { client, access } = await openManagement(io, flags);
  const { namespace = access.namespace } = flags;
  const { objects } = (await validObjects(io, source, command, namespace)) ?? {};
  const choice = selectionIn(source, flags, access.namespace);
  // A named Exposure may be only in the cluster, while a file has its Edge.
  const isWhole = flags.allNamespaces || source.exposure !== undefined;
  const meant = { choice, isWhole, namespace: operatorNamespace };
  return objects && dryRunsApplied({ io, client, objects, ...meant, proxyImage, only });
}

async function diff(io: CommandIo, runs: DryRuns, flags: Flags): Promise<void> {
  // Imported lazily, so that help does not load it.
  const [{ EXIT, reportFindings }, { exposureChanges }, texts, { currentScreen, valueText }] =
    await Promise.all([
      import('./plans/plans.ts'),
      import('./plans/exposure-changes.ts'),
      import('./output/diff-text.ts'),
      import('./output/output.ts'),
    ]);
  const { hasColors } = currentScreen(io);
  const all: object[] = [];
  let hasChanges = false;
  let isEmpty = true;
  for await (const run of runs) {
    isEmpty = false;
    reportFindings(io, run, EXIT.failed);
    const changes = exposureChanges(run, flags.only);
    if (changes.changes.length > 0) hasChanges = true;
    if (flags.output === 'text') io.stdout.write(texts.changesText(changes, hasColors));
    else all.push(texts.changesValue(changes));
  }
  if (flags.output !== 'text') io.stdout.write(valueText({ exposures: all }, flags.output));
  if (isEmpty) printMessage(io, 'No Exposures found.');
  if (hasChanges) io.exitCode ??= EXIT.wrong;
  else if (!isEmpty && io.exitCode === undefined && io.stderr.isTTY) {
    printMessage(io, 'No changes.');
  }
}
