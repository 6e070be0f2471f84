/**
 * Objects that are at hand, for whoever would ask a cluster for them.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';

/** Gives those of the objects that are asked for. */
export function readerOf(objects: readonly KubeObject[]): Pick<KubeClient, 'get'> {
  return {
    get: async <T extends KubeObject>(resource: Resource, key: ObjectKey) =>
      Promise.resolve(objects.find((object) => isAt(object, resource, key)) as T | undefined),
  };
}

/** Whether it is the one of this kind and name. */
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
