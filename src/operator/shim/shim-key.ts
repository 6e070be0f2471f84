/**
 * The key in the work queue of a provider's object: its API version, kind, namespace and name. The operator creates an
 * Exposure, the shim, for each of these objects that has the annotation `snicket.dev/edge`.
 */
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { isOfKind, WATCHED_RESOURCES } from '../../providers/provider-resources.ts';

/** A provider's object: its kind, in the preferred version, and its key. */
interface ShimReference {
  readonly resource: Resource;
  readonly key: ObjectKey;
}

/**
 * Returns the queue key of an object, such as `kamaji.clastix.io/v1alpha1 TenantControlPlane tenants/blue`; undefined if
 * no provider has the kind.
 */
export function shimKeyOf({ apiVersion, kind, metadata }: KubeObject): string | undefined {
  const resource = WATCHED_RESOURCES.find((known) => isOfKind(known, { apiVersion, kind }));
  return resource && shimKeyFor(resource, metadata);
}

/** Returns the queue key of the object of this kind with this namespace and name. */
export function shimKeyFor({ apiVersion, kind }: Resource, at: ObjectKey): string {
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
