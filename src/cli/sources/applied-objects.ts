/**
 * Edges and Exposures as they would be once files were applied: what is wished for in the file, and the rest as it is
 * there.
 */
import { keyText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { isAt } from './object-reader.ts';

/** What is there, with the Edges and Exposures among `wished` in their places or beside it. */
export function appliedObjects(
  live: readonly KubeObject[],
  wished: readonly KubeObject[],
): readonly KubeObject[] {
  const applied = new Map(live.map((object) => [identity(object), object]));
  for (const object of wished.filter(isOurs)) {
    applied.set(identity(object), appliedTo(applied.get(identity(object)), object));
  }
  return [...applied.values()];
}

/** Whether it is an Edge or an Exposure. */
function isOurs(object: KubeObject): boolean {
  return [RESOURCES.edge, RESOURCES.exposure].some((kind) => isAt(object, kind, object.metadata));
}

function identity({ kind, metadata }: KubeObject): string {
  return `${kind} ${keyText(metadata)}`;
}

function appliedTo(live: KubeObject | undefined, wished: KubeObject): KubeObject {
  if (live === undefined) return wished;
  const { labels, annotations } = wished.metadata;
  return {
    ...live,
    ...('spec' in wished && { spec: wished.spec }),
    metadata: {
      ...live.metadata,
      labels: { ...live.metadata.labels, ...labels },
      annotations: { ...live.metadata.annotations, ...annotations },
    },
  };
}
