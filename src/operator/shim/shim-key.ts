/**
 * The queue key of a provider's object that may have an annotation for an Exposure: its kind, namespace and name.
 */
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { isOfKind, WATCHED_RESOURCES } from '../../providers/provider-resources.ts';

/** A provider's object: its kind, in the preferred version, and its key. */
interface ShimReference {
  readonly resource: Resource;
  readonly key: ObjectKey;
}

/** `kamaji.clastix.io/v1alpha1 TenantControlPlane tenants/blue`; undefined if no provider has the kind. */
export function shimKeyOf({ apiVersion, kind, metadata }: KubeObject): string | undefined {
  const resource = WATCHED_RESOURCES.find((known) => isOfKind(known, { apiVersion, kind }));
  return resource && shimKeyAt(resource, metadata);
}

/** The queue key of an object of this kind. */
export function shimKeyAt({ apiVersion, kind }: Resource, at: ObjectKey): string {
  return `${apiVersion} ${kind} ${keyText(at)}`;
}

/** Parses a queue key; undefined if it is invalid. */
export function parseShimKey(text: string): ShimReference | undefined {
  const [apiVersion, kind, name = ''] = text.split(' ');
  const resource = WATCHED_RESOURCES.find(
    (one) => one.apiVersion === apiVersion && one.kind === kind,
  );
  const [namespace, objectName] = name.split('/');
  if (resource === undefined || namespace === undefined || objectName === undefined)
    return undefined;
  return { resource, key: { namespace, name: objectName } };
}
