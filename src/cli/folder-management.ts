/**
 * The folder of `snicket run` in place of a management cluster.
 */
import type { Command } from 'commander';
import type { KubeClient } from '../kube/client.ts';
import { keyText, type KubeObject, type ObjectKey } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import { ManagementSnapshot } from '../operator/management/management-snapshot.ts';
import { faultText, FolderUnreadable } from '../standalone/folder/fault.ts';
import { readFolder, type FolderObjects } from '../standalone/read-folder.ts';

/** A folder, once. */
export interface FolderManagement {
  /** What its good files say, as a cluster would. */
  readonly management: ManagementSnapshot;
  /** What is wrong in the others, each in one line. */
  readonly faults: readonly string[];
}

/** Of the whole reading. */
const READ_MS = 60_000;

/** Reads the folder; ends the program if it cannot be read as a whole. */
export async function openFolder(folder: string, command: Command): Promise<FolderManagement> {
  const { objects, faults } = await objectsInFolder(folder, command);
  const management = new ManagementSnapshot(objects, { has: () => false }, readerOf(objects));
  return { management, faults };
}

/** The same, for a tool with a view of its own. */
export async function objectsInFolder(
  folder: string,
  command: Command,
): Promise<Pick<FolderObjects, 'objects'> & Pick<FolderManagement, 'faults'>> {
  try {
    const { objects, faults } = await readFolder(folder, AbortSignal.timeout(READ_MS));
    return { objects, faults: faults.map(faultText) };
  } catch (error) {
    if (!(error instanceof FolderUnreadable)) throw error;
    command.error(`error: ${error.message}; name the folder that snicket run is given`);
  }
}

function readerOf(objects: readonly KubeObject[]): Pick<KubeClient, 'get'> {
  const isAt = (object: KubeObject, { apiVersion, kind }: Resource, key: ObjectKey) =>
    object.apiVersion === apiVersion &&
    object.kind === kind &&
    keyText(object.metadata) === keyText(key);
  return {
    get: async <T extends KubeObject>(resource: Resource, key: ObjectKey) =>
      Promise.resolve(objects.find((object) => isAt(object, resource, key)) as T | undefined),
  };
}
