/**
 * Reads objects from memory instead of a cluster.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';

/** Returns a client whose `get` finds these objects. */
export function readerOf(objects: readonly KubeObject[]): Pick<KubeClient, 'get'> {
  return {
    get: async <T extends KubeObject>(resource: Resource, key: ObjectKey) =>
      Promise.resolve(objects.find((object) => isAt(object, resource, key)) as T | undefined),
  };
}

/** Reports whether an object has this kind and key. */
export function isAt(
  object: KubeObject,
  { apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>,
  key: ObjectKey,
): boolean {
  return (
    object.apiVersion === apiVersion &&
    object.kind === kind &&
    keyText(object.metadata) === keyText(key)
  );
}
