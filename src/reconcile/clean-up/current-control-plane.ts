/**
 * The control plane of a deleted Exposure, as the API server has it now.
 */
import type { Exposure } from '../../api/exposure.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ControlPlaneObjects } from '../../providers/reading/control-plane-reading.ts';
import { servedVersion } from '../../providers/provider-resources.ts';
import { controlPlaneObjects } from '../../management/control-plane-objects.ts';
import type { ExposureIndex } from '../../management/exposure-index.ts';
import type { Found } from '../../management/found.ts';
import type { ManagementAccess } from '../../management/management-view.ts';

/** Read from the API server: a watch that has just begun knows nothing, and what was written would stay for ever. */
export function currentObjects(
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

/** A cleanup only needs the control plane: the rest of the spec may be invalid. */
export function deletedExposure(object: KubeObject, exposureIndex: ExposureIndex): Found<Exposure> {
  const found = exposureIndex.exposureIn(object);
  if (found.value !== undefined) return found;
  const { controlPlane } = (object as Partial<Exposure>).spec ?? {};
  const bare = { ...object, spec: { controlPlane } };
  const least = exposureIndex.exposureIn(bare);
  return least.value === undefined ? found : least;
}
