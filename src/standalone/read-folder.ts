/** Reads a folder once, for tools. */
import type { KubeObject } from '../kube/object.ts';
import type { FolderFault } from './folder/fault.ts';
import { FolderReader, unusableEdgeFiles, type FolderReading } from './folder/folder-reader.ts';

/** The content of a folder. */
export interface FolderObjects {
  /**
   * The Edges, Exposures and Secrets of valid files, with defaults and namespaces filled in, and the values of Secrets
   * in `data`. They have no uid and no status, because they are in no cluster.
   */
  readonly objects: readonly KubeObject[];
  /** Faults by file. `faultText` formats one as a line. */
  readonly faults: readonly FolderFault[];
  /** The unusable files that seem to contain an Edge. */
  readonly unusableEdgeFiles: readonly string[];
  /** The complete result of the read. */
  readonly reading: FolderReading;
}

/** Reads a folder as `snicket run` does. @throws FolderUnreadable, or the signal's reason */
export async function readFolder(folder: string, signal: AbortSignal): Promise<FolderObjects> {
  const reading = await new FolderReader(folder).read(signal);
  return {
    objects: reading.objects.map(({ object }) => object),
    faults: reading.faults,
    unusableEdgeFiles: unusableEdgeFiles(reading),
    reading,
  };
}
