/**
 * The folder of `snicket run` in place of a management cluster.
 */
import type { KubeClient } from '../../kube/client.ts';
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { ManagementSnapshot } from '../../operator/management/management-snapshot.ts';

/** What the folder says, as a cluster would. */
export function folderManagement(objects: readonly KubeObject[]): ManagementSnapshot {
  return new ManagementSnapshot(objects, { has: () => false }, readerOf(objects));
}

function readerOf(objects: readonly KubeObject[]): Pick<KubeClient, 'get'> {
  const isAt = (object: KubeObject, { apiVersion, kind }: Resource, key: ObjectKey) =>
    object.apiVersion === apiVersion &&
    object.kind === kind &&
    keyText(object.metadata) === keyText(key);
  return {
    get: async <T extends KubeObject>(resource: Resource, key: ObjectKey) =>
      Promise.resolve(objects.find((object) => isAt(object, resource, key)) as T | undefined),
  };
}
