/**
 * A folder of YAML as objects, once: for tools.
 */
import type { KubeObject } from '../kube/object.ts';
import type { FolderFault } from './folder/fault.ts';
import { FolderReader, unusableEdgeFiles, type FolderReading } from './folder/folder-reader.ts';

/** What is in a folder. */
export interface FolderObjects {
  /**
   * Edges, Exposures and Secrets of the files that are good: defaults filled in, namespaces given, the values of Secrets in
   * `data`. They are in no cluster, and so have no uid and no status.
   */
  readonly objects: readonly KubeObject[];
  /** What is wrong, by file; `faultText` puts one into a line. */
  readonly faults: readonly FolderFault[];
  /** The files among these that seem to have an Edge in them. */
  readonly unusableEdgeFiles: readonly string[];
  /** All that was read, for whoever wants to know what goes and what stays. */
  readonly reading: FolderReading;
}

/** Reads the folder of `snicket run`, as it does. @throws FolderUnreadable, or the signal's reason */
export async function readFolder(folder: string, signal: AbortSignal): Promise<FolderObjects> {
  const reading = await new FolderReader(folder).read(signal);
  return {
    objects: reading.objects.map(({ object }) => object),
    faults: reading.faults,
    unusableEdgeFiles: unusableEdgeFiles(reading),
    reading,
  };
}
