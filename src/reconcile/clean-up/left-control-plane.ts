/**
 * The control plane of an Exposure that leaves.
 */
import type { Exposure } from '../../api/exposure.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ControlPlaneObjects } from '../../providers/reading/control-plane-reading.ts';
import { servedVersion } from '../../providers/provider-resources.ts';
import { controlPlaneObjects } from '../../management/control-plane-objects.ts';
import type { ExposureIndex, Found } from '../../management/exposure-index.ts';
import type { ManagementAccess } from '../../management/management-view.ts';

/** What the server has now: a watch that has just begun knows of nothing, and what was written would stay for ever. */
export function presentObjects(
  management: ManagementAccess,
  signal: AbortSignal,
): ControlPlaneObjects {
  return {
    ...controlPlaneObjects(management, signal),
    object: async (resource, key) =>
      management.client.get(servedVersion(resource, management.served) ?? resource, key, {
        signal,
      }),
  };
}

/** To leave, it is enough to know the control plane: the rest of a wish may be such as nobody understands any more. */
export function leavingExposure(object: KubeObject, exposureIndex: ExposureIndex): Found<Exposure> {
  const found = exposureIndex.exposureIn(object);
  if (found.value !== undefined) return found;
  const { controlPlane } = (object as Partial<Exposure>).spec ?? {};
  const bare = { ...object, spec: { controlPlane } };
  const least = exposureIndex.exposureIn(bare);
  return least.value === undefined ? found : least;
}
