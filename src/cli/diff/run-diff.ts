/**
 * Prints what the operator would change.
 */
import type { Command } from 'commander';
import type { DryRun } from '../../reconcile/dry-run.ts';
import { defaultStateFolder } from '../../standalone/state/state-folder.ts';
import type { DiffFlags } from '../diff.ts';
import {
  rejectContradictions,
  selectionOf,
  type NamedExposure,
} from '../flags/management-flags.ts';
import type { CommandIo } from '../io/command-io.ts';
import { changesText, changesValue, exposureChanges } from '../output/diff-text.ts';
import { EXIT, printMessage } from '../output/messages.ts';
import { currentScreen, valueText } from '../output/output.ts';
import { dryRuns } from '../plans/dry-runs.ts';
import { reportFindings } from '../plans/plans.ts';
import { dryRunsApplied, dryRunsOfFolder } from '../sources/diff-sources.ts';
import {
  fileSourceOf,
  rejectStateOfFiles,
  selectionIn,
  validObjects,
} from '../sources/file-source.ts';
import { openManagement } from '../sources/open-management.ts';
import { selectedOrFail } from '../sources/selected-exposures.ts';

type DryRuns = AsyncIterable<DryRun>;

/** Runs the command, and sets the exit code if there are changes. */
export async function runDiff(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  flags: DiffFlags,
  command: Command,
): Promise<void> {
  const runs =
    flags.filename === undefined && flags.state === undefined
      ? dryRunsOfCluster(io, exposure, flags)
      : await dryRunsWith(io, exposure, flags, command);
  if (runs !== undefined) await print(io, runs, flags);
}

function dryRunsOfCluster(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  flags: DiffFlags,
): DryRuns {
  rejectContradictions(exposure, flags);
  const { client, access } = openManagement(io, flags, { hasFolderFlags: true });
  const choice = selectionOf(exposure, flags, access);
  const { operatorNamespace: namespace, proxyImage, only } = flags;
  const choose = (all: Parameters<typeof selectedOrFail>[0]) => selectedOrFail(all, choice);
  return dryRuns({ io, client, namespace, proxyImage, only, choose });
}

/** Returns the dry runs for the files of -f or the folder of --state; undefined if they are invalid, which has been reported. */
async function dryRunsWith(
  io: CommandIo,
  exposure: NamedExposure | undefined,
  flags: DiffFlags,
  command: Command,
): Promise<DryRuns | undefined> {
  const source = await fileSourceOf(io, exposure, flags, command);
  const { state = defaultStateFolder(io.env), proxyImage, only, operatorNamespace } = flags;
  const { folder } = source;
  if (folder !== undefined) {
    const { reading } = (await validObjects(io, source)) ?? {};
    const choice = selectionIn(source, flags);
    return reading && dryRunsOfFolder({ io, reading, folder, state, choice, proxyImage, only });
  }
  rejectStateOfFiles(command);
  const { client, access } = openManagement(io, flags, { hasFolderFlags: true });
  const { namespace = access.namespace } = flags;
  const { objects } = (await validObjects(io, source, namespace)) ?? {};
  const choice = selectionIn(source, flags, access.namespace);
  // A named Exposure may be only in the cluster, while a file has its Edge.
  const isWhole = flags.allNamespaces || source.exposure !== undefined;
  const selection = { choice, isWhole, namespace: operatorNamespace };
  return objects && dryRunsApplied({ io, client, objects, ...selection, proxyImage, only });
}

async function print(io: CommandIo, runs: DryRuns, { only, output }: DiffFlags): Promise<void> {
  const { hasColors } = currentScreen(io);
  const all: object[] = [];
  let hasChanges = false;
  let isEmpty = true;
  for await (const run of runs) {
    isEmpty = false;
    reportFindings(io, run, EXIT.failed);
    const changes = exposureChanges(run, only);
    if (changes.changes.length > 0) hasChanges = true;
    if (output === 'text') io.stdout.write(changesText(changes, hasColors));
    else all.push(changesValue(changes));
  }
  if (output !== 'text') io.stdout.write(valueText({ exposures: all }, output));
  if (isEmpty) printMessage(io, 'No Exposures found.');
  if (hasChanges) io.exitCode ??= EXIT.wrong;
  else if (!isEmpty && io.exitCode === undefined && io.stderr.isTTY) {
    printMessage(io, 'No changes.');
  }
}
