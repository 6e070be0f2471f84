/**
 * Whose an object of the management cluster is: by the label it is found, by the owner it goes when the Exposure does.
 */
import type { Exposure } from '../api/exposure.ts';
import { exposureLabelValue } from '../edges/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { EXPOSURE_LABEL, MANAGED_BY } from './labels.ts';

/** The objects as those of this Exposure. One that is in no cluster has no uid, and owns nothing yet. */
export function ownedBy(
  { apiVersion, kind, metadata: { name, uid } }: Pick<Exposure, 'apiVersion' | 'kind' | 'metadata'>,
  objects: readonly KubeObject[],
): readonly KubeObject[] {
  const owner = { apiVersion, kind, name, controller: true, blockOwnerDeletion: true };
  const labels = { ...MANAGED_BY, [EXPOSURE_LABEL]: exposureLabelValue(name) };
  return objects.map((object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, ...labels },
      ...(uid !== undefined && { ownerReferences: [{ ...owner, uid }] }),
    },
  }));
}
