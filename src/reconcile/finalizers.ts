/**
 * The finalizers of an Exposure, each put there before the first write that it stands for.
 */
import { addFinalizer, removeFinalizer } from '../kube/finalizer.ts';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { ManagementAccess } from '../management/management-view.ts';

export { ROUTES_FINALIZER } from '../api/host-ownership.ts';

/** Holds a deleted Exposure until the objects of its provider are as they were. */
export const PREPARATION_FINALIZER = 'snicket.dev/preparation';

/** Holds it until its tenant is as it was, or cannot be reached for too long. */
export const TENANT_FINALIZER = 'snicket.dev/tenant';

/** The versions of Exposures that this process has written. A watch may be behind them. */
export interface ExposureVersions {
  /** The Exposure with the version and the finalizers that own writes since have left it with. */
  latest(object: KubeObject): KubeObject;
  /** Records an own write to the metadata. */
  wrote(before: KubeObject, after: KubeObject): void;
}

/** What {@link holdExposure} and {@link letGoOfExposure} need. */
export interface FinalizerDeps {
  readonly management: Pick<ManagementAccess, 'client'>;
  readonly versions: ExposureVersions;
}

/** Puts a finalizer there. False if the object is gone, or is being deleted. @throws OutdatedError, KubeError */
export async function holdExposure(
  { management, versions }: FinalizerDeps,
  object: KubeObject,
  finalizer: string,
  signal: AbortSignal,
): Promise<boolean> {
  const latest = versions.latest(object);
  const { client } = management;
  const held = await addFinalizer(client, RESOURCES.exposure, latest, finalizer, { signal });
  if (held === undefined) return false;
  if (held !== latest) versions.wrote(latest, held);
  return held.metadata.deletionTimestamp === undefined;
}

/** Takes a finalizer off that an Exposure no longer needs. @throws KubeError */
export async function letGoOfExposure(
  { management, versions }: FinalizerDeps,
  object: KubeObject,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  const latest = versions.latest(object);
  if (latest.metadata.uid !== object.metadata.uid) return;
  const { client } = management;
  const left = await removeFinalizer(client, RESOURCES.exposure, latest, finalizer, { signal });
  if (left !== undefined && left !== latest) versions.wrote(latest, left);
}
