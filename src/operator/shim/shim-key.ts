/**
 * The queue key of a provider's object that may have an annotation for an Exposure: its kind, namespace and name.
 */
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { isOfKind, WATCHED_RESOURCES } from '../../providers/provider-resources.ts';

/** The kind, in its preferred version, and the key. */
export interface ShimPlace {
  readonly resource: Resource;
  readonly key: ObjectKey;
}

/** `kamaji.clastix.io/v1alpha1 TenantControlPlane tenants/blue`; undefined if no provider has the kind. */
export function shimKeyOf({ apiVersion, kind, metadata }: KubeObject): string | undefined {
  const resource = WATCHED_RESOURCES.find((one) => isOfKind(one, { apiVersion, kind }));
  return resource && shimKeyAt(resource, metadata);
}

/** The queue key of an object of this kind. */
export function shimKeyAt({ apiVersion, kind }: Resource, at: ObjectKey): string {
  return `${apiVersion} ${kind} ${keyText(at)}`;
}

/** Parses a queue key; undefined if it is invalid. */
export function shimPlaceOf(text: string): ShimPlace | undefined {
  const [apiVersion, kind, place = ''] = text.split(' ');
  const resource = WATCHED_RESOURCES.find(
    (one) => one.apiVersion === apiVersion && one.kind === kind,
  );
  const [namespace, name] = place.split('/');
  if (resource === undefined || namespace === undefined || name === undefined) return undefined;
  return { resource, key: { namespace, name } };
}
