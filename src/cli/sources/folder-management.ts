/**
 * The folder of `snicket run` in place of a management cluster.
 */
import type { Command } from 'commander';
import type { KubeObject } from '../../kube/object.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { faultText, FolderUnreadable } from '../../standalone/folder/fault.ts';
import { readFolder, type FolderObjects } from '../../standalone/read-folder.ts';
import { selectedInFiles, type FilesLocation } from './selected-exposures.ts';
import type { Choice } from '../flags/management-flags.ts';
import { readerOf } from './object-reader.ts';
import { READ_TIMEOUT_MS } from './read-timeout.ts';
import { exitWithError, exitWithThrown } from '../output/messages.ts';
import type { CommandIo } from '../io/command-io.ts';

/** A folder that was read once. */
export interface FolderManagement {
  readonly folder: string;
  /** The objects of its valid files, as a management cluster. */
  readonly management: ManagementSnapshot;
  /** The errors in the other files, each in one line. */
  readonly faults: readonly string[];
}

/** Reads the folder. Exits with an error if it cannot be read at all, or not in time. */
export async function openFolder(
  io: CommandIo,
  folder: string,
  command: Command,
): Promise<FolderManagement> {
  const { objects, faults, unusableEdgeFiles } = await objectsInFolder(io, folder, command);
  const nothing = { has: () => false };
  const reader = readerOf(objects);
  const management = new ManagementSnapshot(objects, nothing, reader, unusableEdgeFiles);
  return { folder, management, faults };
}

/** Returns the chosen Exposures of the folder. @throws NoExposures */
export function selectedInFolder(
  { folder, management, faults }: FolderManagement,
  choices: readonly Choice[],
): readonly KubeObject[] {
  const place = { ...folderLocation(folder), hasFaults: faults.length > 0 };
  return selectedInFiles(management.exposures, choices, place);
}

/**
 * Returns the objects of the folder, for commands with their own view. Exits with an error if it cannot be read in
 * time.
 */
export async function objectsInFolder(
  io: CommandIo,
  folder: string,
  command: Command,
  inTime: AbortSignal = AbortSignal.timeout(READ_TIMEOUT_MS),
): Promise<Omit<FolderObjects, 'faults'> & Pick<FolderManagement, 'faults'>> {
  try {
    const { faults, ...read } = await readFolder(io.path(folder), inTime);
    return { ...read, faults: faults.map(faultText) };
  } catch (error) {
    if (inTime.aborted) {
      exitWithError(
        command,
        `cannot read folder ${folder}: timed out after ${READ_TIMEOUT_MS / 1000}s`,
        'check that its disk or network responds, and try again',
      );
    }
    if (!(error instanceof FolderUnreadable)) throw error;
    exitWithThrown(command, `${error.message}; pass the folder of snicket run`);
  }
}

/** Returns a folder as messages name it. */
export function folderLocation(folder: string): Pick<FilesLocation, 'place' | 'action'> {
  return {
    place: `folder ${folder}`,
    action: 'add a file with an Exposure, or pass the folder of snicket run',
  };
}
