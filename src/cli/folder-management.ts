/**
 * The folder of `snicket run` in place of a management cluster.
 */
import type { Command } from 'commander';
import { ManagementSnapshot } from '../operator/management/management-snapshot.ts';
import { faultText, FolderUnreadable } from '../standalone/folder/fault.ts';
import { readFolder, type FolderObjects } from '../standalone/read-folder.ts';
import { readerOf } from './object-reader.ts';
import { READ_MS } from './reading-limit.ts';

/** A folder, once. */
export interface FolderManagement {
  /** What its good files say, as a cluster would. */
  readonly management: ManagementSnapshot;
  /** What is wrong in the others, each in one line. */
  readonly faults: readonly string[];
}

/** Reads the folder; ends the program if it cannot be read as a whole, or not in time. */
export async function openFolder(folder: string, command: Command): Promise<FolderManagement> {
  const { objects, faults } = await objectsInFolder(folder, command);
  const management = new ManagementSnapshot(objects, { has: () => false }, readerOf(objects));
  return { management, faults };
}

/** The same, for a tool with a view of its own. */
export async function objectsInFolder(
  folder: string,
  command: Command,
  inTime: AbortSignal = AbortSignal.timeout(READ_MS),
): Promise<Pick<FolderObjects, 'objects'> & Pick<FolderManagement, 'faults'>> {
  try {
    const { objects, faults } = await readFolder(folder, inTime);
    return { objects, faults: faults.map(faultText) };
  } catch (error) {
    if (inTime.aborted) {
      command.error(
        `error: the folder ${folder} could not be read within ${READ_MS / 1000} s; see that the disk or the network that it is on answers, and try again`,
      );
    }
    if (!(error instanceof FolderUnreadable)) throw error;
    command.error(`error: ${error.message}; name the folder that snicket run is given`);
  }
}
