/**
 * The source of the Exposures that a command line selects: a management cluster, or the folder of `snicket run`.
 */
import type { Command } from 'commander';
import type { KubeObject } from '../../kube/object.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import {
  FOLDER_NAMESPACE,
  rejectClusterFlags,
  rejectContradictions,
  selectionOf,
  type Choice,
  type ClusterFlags,
  type NamedExposure,
  type SelectionFlags,
} from '../flags/management-flags.ts';
import type { CommandIo } from '../io/command-io.ts';
import { adviceIn, EXIT, printAdvice } from '../output/messages.ts';
import { withProgress } from '../output/progress.ts';
import { proxyImageOf } from '../plans/dry-runs.ts';
import { PROXY_IMAGE } from '../plans/proxy-image.ts';
import { folderLocation, folderOf, openFolder, type FolderFlags } from './folder-management.ts';
import { openManagement } from './open-management.ts';
import { READ_TIMEOUT_MS } from './read-timeout.ts';
import { selectedInFiles, selectedOf } from './selected-exposures.ts';

/** Flags that select the source and the Exposures. */
export interface SourceFlags extends ClusterFlags, SelectionFlags, FolderFlags {
  readonly proxyImage?: string;
}

/** The management cluster or folder that a command has read. */
export interface ReadManagement {
  readonly management: ManagementSnapshot;
  /** The choices of the command line. */
  readonly choices: readonly Choice[];
  /** Whether the gateway is on this machine, as with `snicket run`. */
  readonly isGatewayHere: boolean;
  /** Returns the chosen Exposures, each once. @throws CommandError if a named Exposure does not exist */
  readonly select: (choices: readonly Choice[]) => readonly KubeObject[];
  /** Returns the image for proxies. @throws KubeError */
  readonly proxyImage: () => Promise<string>;
}

/**
 * Reads the source. Prints the errors in files of a folder with this severity. With severity `error`, they also set the
 * exit code.
 *
 * @throws AccessError, CommandError, FolderUnreadable, KubeError
 */
export async function readManagement(
  io: CommandIo,
  exposures: readonly NamedExposure[],
  flags: SourceFlags,
  command: Command,
  severity: 'error' | 'warning' = 'error',
): Promise<ReadManagement> {
  const named = exposures.length === 0 ? [undefined] : exposures;
  for (const exposure of named) rejectContradictions(exposure, flags);
  const { filename, state } = flags;
  if (filename === undefined && state === undefined) return readCluster(io, named, flags);
  rejectClusterFlags(flags, command);
  const folder = await folderOf(io, flags);
  const { management, faults } = await openFolder(io, folder, state);
  for (const fault of faults) printAdvice(io, severity, adviceIn(fault));
  if (faults.length > 0 && severity === 'error') io.exitCode = EXIT.failed;
  const location = { ...folderLocation(folder), hasFaults: faults.length > 0 };
  return {
    management,
    choices: named.map((exposure) =>
      exposure === undefined
        ? { namespace: flags.namespace }
        : selectionOf(exposure, flags, { namespace: FOLDER_NAMESPACE }),
    ),
    isGatewayHere: true,
    select: (choices) => selectedInFiles(management.exposures, choices, location),
    proxyImage: async () => Promise.resolve(flags.proxyImage ?? PROXY_IMAGE),
  };
}

async function readCluster(
  io: CommandIo,
  named: readonly (NamedExposure | undefined)[],
  flags: SourceFlags,
): Promise<ReadManagement> {
  const { client, access } = openManagement(io, flags, { hasFolderFlags: true });
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const reading = ManagementSnapshot.read(client, signal);
  const management = await withProgress(io, `reading ${client.server}`, reading);
  const namespace = flags.operatorNamespace;
  return {
    management,
    choices: named.map((exposure) => selectionOf(exposure, flags, access)),
    isGatewayHere: false,
    select: (choices) => [
      ...new Set(choices.flatMap((choice) => selectedOf(management.exposures, choice))),
    ],
    proxyImage: async () => flags.proxyImage ?? proxyImageOf({ io, client, namespace }, signal),
  };
}
