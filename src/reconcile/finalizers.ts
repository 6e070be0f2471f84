/**
 * The finalizers of an Exposure. Each is added before the first write that its cleanup has to undo.
 */
import { addFinalizer, removeFinalizer } from '../kube/finalizer.ts';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { ManagementAccess } from '../management/management-view.ts';

export { ROUTES_FINALIZER } from '../api/host-ownership.ts';

/** Blocks the deletion of an Exposure until the objects of its provider are restored. */
export const PREPARATION_FINALIZER = 'snicket.dev/preparation';

/** Blocks the deletion until the tenant is cleaned up, or is unreachable for too long. */
export const TENANT_FINALIZER = 'snicket.dev/tenant';

/** The versions of Exposures that this process has written. The watch may deliver them later. */
export interface ExposureVersions {
  /** Returns the Exposure with the resource version and finalizers of this process's latest write. */
  latest(object: KubeObject): KubeObject;
  /** Records a metadata write of this process. */
  wrote(before: KubeObject, after: KubeObject): void;
}

/** What {@link addExposureFinalizer} and {@link removeExposureFinalizer} need. */
export interface FinalizerDeps {
  readonly management: Pick<ManagementAccess, 'client'>;
  readonly versions: ExposureVersions;
}

/** Adds a finalizer. Returns false if the Exposure is gone or being deleted. @throws OutdatedError, KubeError */
export async function addExposureFinalizer(
  { management, versions }: FinalizerDeps,
  object: KubeObject,
  finalizer: string,
  signal: AbortSignal,
): Promise<boolean> {
  const latest = versions.latest(object);
  const { client } = management;
  const updated = await addFinalizer(client, RESOURCES.exposure, latest, finalizer, { signal });
  if (updated === undefined) return false;
  if (updated !== latest) versions.wrote(latest, updated);
  return updated.metadata.deletionTimestamp === undefined;
}

/** Removes a finalizer that an Exposure no longer needs. @throws KubeError */
export async function removeExposureFinalizer(
  { management, versions }: FinalizerDeps,
  object: KubeObject,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  const latest = versions.latest(object);
  if (latest.metadata.uid !== object.metadata.uid) return;
  const { client } = management;
  const updated = await removeFinalizer(client, RESOURCES.exposure, latest, finalizer, { signal });
  if (updated !== undefined && updated !== latest) versions.wrote(latest, updated);
}
