/**
 * For tests only: provider objects from a list.
 */
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { ControlPlaneObjects } from '../reading/control-plane-reading.ts';

/** Returns a reader of these objects. */
export function objectsFrom(objects: readonly KubeObject[]): ControlPlaneObjects {
  const find = (apiVersion: string, kind: string, { name, namespace }: ObjectKey) =>
    objects.find(
      (object) =>
        object.apiVersion === apiVersion &&
        object.kind === kind &&
        object.metadata.name === name &&
        object.metadata.namespace === namespace,
    );
  return {
    service: (key) => find('v1', 'Service', key),
    secret: async (key) => find('v1', 'Secret', key),
    object: async ({ apiVersion, kind }, key) => find(apiVersion, kind, key),
  };
}
