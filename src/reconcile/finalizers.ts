/**
 * The finalizers of an Exposure. Each is added before the first write that its cleanup has to undo.
 */
import { addFinalizer, removeFinalizer } from '../kube/finalizer.ts';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { ReconcileDeps } from './reconcile-deps.ts';

export { ROUTES_FINALIZER } from '../api/host-ownership.ts';

/** Blocks the deletion of an Exposure until the objects of its provider are restored. */
export const PREPARATION_FINALIZER = 'snicket.dev/preparation';

/** Blocks the deletion until the tenant is cleaned up, or is unreachable for too long. */
export const TENANT_FINALIZER = 'snicket.dev/tenant';

/** Adds a finalizer. Returns false if the Exposure is gone or being deleted. @throws OutdatedError, KubeError */
export async function addExposureFinalizer(
  { management, statuses }: ReconcileDeps,
  object: KubeObject,
  finalizer: string,
  signal: AbortSignal,
): Promise<boolean> {
  const latest = statuses.latest(object);
  const { client } = management;
  const updated = await addFinalizer(client, RESOURCES.exposure, latest, finalizer, { signal });
  if (updated === undefined) return false;
  if (updated !== latest) statuses.wrote(latest, updated);
  return updated.metadata.deletionTimestamp === undefined;
}

/** Removes a finalizer that an Exposure no longer needs. @throws KubeError */
export async function removeExposureFinalizer(
  { management, statuses }: ReconcileDeps,
  object: KubeObject,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  const latest = statuses.latest(object);
  if (latest.metadata.uid !== object.metadata.uid) return;
  const { client } = management;
  const updated = await removeFinalizer(client, RESOURCES.exposure, latest, finalizer, { signal });
  if (updated !== undefined && updated !== latest) statuses.wrote(latest, updated);
}
