/**
 * The finalizers of an Exposure, each put there before the first write that it stands for.
 */
import { addFinalizer, removeFinalizer } from '../kube/finalizer.ts';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { ManagementCluster } from '../operator/management/management-cluster.ts';
import type { ExposureReports } from '../operator/exposure/exposure-reports.ts';

export { ROUTES_FINALIZER } from '../api/host-ownership.ts';

/** Holds a deleted Exposure until the objects of its provider are as they were. */
export const PREPARATION_FINALIZER = 'snicket.dev/preparation';

/** Holds it until its tenant is as it was, or cannot be reached for too long. */
export const TENANT_FINALIZER = 'snicket.dev/tenant';

/** What {@link holdExposure} and {@link letGoOfExposure} work with. */
export interface HoldMeans {
  readonly management: Pick<ManagementCluster, 'client'>;
  readonly reports: Pick<ExposureReports, 'latest' | 'wrote'>;
}

/** Puts a finalizer there. False if the object is gone, or is being deleted. @throws OutdatedError, KubeError */
export async function holdExposure(
  { management, reports }: HoldMeans,
  object: KubeObject,
  finalizer: string,
  signal: AbortSignal,
): Promise<boolean> {
  const latest = reports.latest(object);
  const { client } = management;
  const held = await addFinalizer(client, RESOURCES.exposure, latest, finalizer, { signal });
  if (held === undefined) return false;
  if (held !== latest) reports.wrote(latest, held);
  return held.metadata.deletionTimestamp === undefined;
}

/** Takes a finalizer off that an Exposure no longer needs. @throws KubeError */
export async function letGoOfExposure(
  { management, reports }: HoldMeans,
  object: KubeObject,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  const latest = reports.latest(object);
  if (latest.metadata.uid !== object.metadata.uid) return;
  const { client } = management;
  const left = await removeFinalizer(client, RESOURCES.exposure, latest, finalizer, { signal });
  if (left !== undefined && left !== latest) reports.wrote(latest, left);
}
