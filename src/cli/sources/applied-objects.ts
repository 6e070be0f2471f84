/**
 * Edges and Exposures as they would be after files are applied: the spec from the file, the rest from the cluster.
 */
import { keyText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { isAt } from './object-reader.ts';

/** Returns the live objects, with the Edges and Exposures among `desired` merged into them or added. */
export function appliedObjects(
  live: readonly KubeObject[],
  desired: readonly KubeObject[],
): readonly KubeObject[] {
  const applied = new Map(live.map((object) => [identity(object), object]));
  for (const object of desired.filter(isOurs)) {
    applied.set(identity(object), appliedTo(applied.get(identity(object)), object));
  }
  return [...applied.values()];
}

/** Reports whether it is an Edge or an Exposure. */
function isOurs(object: KubeObject): boolean {
  return [RESOURCES.edge, RESOURCES.exposure].some((kind) => isAt(object, kind, object.metadata));
}

function identity({ kind, metadata }: KubeObject): string {
  return `${kind} ${keyText(metadata)}`;
}

function appliedTo(live: KubeObject | undefined, desired: KubeObject): KubeObject {
  if (live === undefined) return desired;
  const { labels, annotations } = desired.metadata;
  return {
    ...live,
    ...('spec' in desired && { spec: desired.spec }),
    metadata: {
      ...live.metadata,
      labels: { ...live.metadata.labels, ...labels },
      annotations: { ...live.metadata.annotations, ...annotations },
    },
  };
}
