/**
 * The folder of `snicket run` in place of a management cluster.
 */
import { statSync } from 'node:fs';
import type { KubeObject } from '../../kube/object.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { faultText, FolderUnreadable } from '../../standalone/folder/fault.ts';
import { readFolder, type FolderObjects } from '../../standalone/read-folder.ts';
import type { FilesLocation } from './selected-exposures.ts';
import { StateSource } from '../status/state-source.ts';
import { appliedObjects } from './applied-objects.ts';
import { isAt, readerOf } from './object-reader.ts';
import { READ_TIMEOUT_MS } from './read-timeout.ts';
import { CommandError } from '../output/messages.ts';
import type { CommandIo } from '../io/command-io.ts';

/** A folder that was read once. */
interface FolderManagement {
  /** The objects of its valid files, as a management cluster. */
  readonly management: ManagementSnapshot;
  /** The errors in the other files, each in one line. */
  readonly faults: readonly string[];
}

/** The flags that select `snicket run`. */
export interface FolderFlags {
  readonly filename?: string | undefined;
  readonly state?: string | undefined;
}

/** Throws an error if a folder of the command line does not exist. */
export function rejectMissingFolder(io: Pick<CommandIo, 'path'>, folder: string): void {
  const stats = statSync(io.path(folder), { throwIfNoEntry: false });
  const hint = 'pass the folder of snicket run';
  if (stats === undefined) throw new CommandError(`folder not found: ${folder}`, hint);
  if (!stats.isDirectory()) throw new CommandError(`not a folder: ${folder}`, hint);
}

/** Returns the folder of -f, or that to which the state of --state belongs. @throws CommandError */
export async function folderOf(
  io: CommandIo,
  { filename, state = '' }: FolderFlags,
): Promise<string> {
  if (filename !== undefined) return filename;
  const { folder } = await new StateSource(state, {}, { path: io.path(state) }).read();
  if (folder !== undefined) return folder;
  throw new CommandError(`the state ${state} does not name its folder`, 'pass the folder with -f');
}

/**
 * Returns the objects of a folder with the status and the TenantRoutes of its state. Includes Exposures that were
 * removed from the folder while their tenants are cleaned up.
 *
 * @throws CommandError if the state cannot be read, or belongs to another folder
 */
export async function withState(
  io: CommandIo,
  objects: readonly KubeObject[],
  folder: string,
  state: string,
): Promise<readonly KubeObject[]> {
  const owner = { name: folder, path: io.path(folder) };
  const source = new StateSource(state, {}, { path: io.path(state), owner });
  const { edges = [], exposures, tenantRoutes = [] } = await source.read();
  const isPresent = (live: KubeObject) =>
    live.metadata.deletionTimestamp !== undefined ||
    objects.some((object) => isAt(object, live, live.metadata));
  const isOther = ({ kind }: KubeObject) => kind !== 'Edge' && kind !== 'Exposure';
  return [
    ...appliedObjects([...edges, ...exposures].filter(isPresent), objects),
    ...objects.filter(isOther),
    ...tenantRoutes,
  ];
}

/** Reads the folder, and its state if there is one. @throws CommandError, FolderUnreadable */
export async function openFolder(
  io: CommandIo,
  folder: string,
  state?: string,
): Promise<FolderManagement> {
  const { objects: inFolder, faults, unusableEdgeFiles } = await objectsInFolder(io, folder);
  const objects = state === undefined ? inFolder : await withState(io, inFolder, folder, state);
  const nothing = { has: () => false };
  const reader = readerOf(objects);
  const management = new ManagementSnapshot(objects, nothing, reader, unusableEdgeFiles);
  return { management, faults };
}

/** Returns the objects of the folder, for commands with their own view. @throws CommandError, FolderUnreadable */
export async function objectsInFolder(
  io: CommandIo,
  folder: string,
  boundedSignal: AbortSignal = AbortSignal.timeout(READ_TIMEOUT_MS),
): Promise<Omit<FolderObjects, 'faults'> & Pick<FolderManagement, 'faults'>> {
  rejectMissingFolder(io, folder);
  try {
    const { faults, ...read } = await readFolder(io.path(folder), boundedSignal);
    return { ...read, faults: faults.map(faultText) };
  } catch (error) {
    if (boundedSignal.aborted) {
      throw new CommandError(
        `cannot read folder ${folder}: timed out after ${READ_TIMEOUT_MS / 1000}s`,
        'check that its disk or network responds, and try again',
      );
    }
    if (!(error instanceof FolderUnreadable)) throw error;
    throw new CommandError(error.message, 'pass the folder of snicket run');
  }
}

/** Returns a folder as messages name it. */
export function folderLocation(folder: string): Pick<FilesLocation, 'place' | 'action'> {
  return {
    place: `folder ${folder}`,
    action: 'add a file with an Exposure, or pass the folder of snicket run',
  };
}
