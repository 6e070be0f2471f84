/**
 * The folder of `snicket run` in place of a management cluster.
 */
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { faultText, FolderUnreadable } from '../../standalone/folder/fault.ts';
import { readFolder, type FolderObjects } from '../../standalone/read-folder.ts';
import type { FilesLocation } from './selected-exposures.ts';
import { readerOf } from './object-reader.ts';
import { READ_TIMEOUT_MS } from './read-timeout.ts';
import { CommandError } from '../output/messages.ts';
import type { CommandIo } from '../io/command-io.ts';

/** A folder that was read once. */
export interface FolderManagement {
  /** The objects of its valid files, as a management cluster. */
  readonly management: ManagementSnapshot;
  /** The errors in the other files, each in one line. */
  readonly faults: readonly string[];
}

/** Reads the folder. @throws CommandError, FolderUnreadable */
export async function openFolder(io: CommandIo, folder: string): Promise<FolderManagement> {
  const { objects, faults, unusableEdgeFiles } = await objectsInFolder(io, folder);
  const nothing = { has: () => false };
  const reader = readerOf(objects);
  const management = new ManagementSnapshot(objects, nothing, reader, unusableEdgeFiles);
  return { management, faults };
}

/** Returns the objects of the folder, for commands with their own view. @throws CommandError, FolderUnreadable */
export async function objectsInFolder(
  io: CommandIo,
  folder: string,
  inTime: AbortSignal = AbortSignal.timeout(READ_TIMEOUT_MS),
): Promise<Omit<FolderObjects, 'faults'> & Pick<FolderManagement, 'faults'>> {
  try {
    const { faults, ...read } = await readFolder(io.path(folder), inTime);
    return { ...read, faults: faults.map(faultText) };
  } catch (error) {
    if (inTime.aborted) {
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
