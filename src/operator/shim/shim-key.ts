/**
 * The key of an object that may ask for an Exposure: of which kind it is, and where.
 */
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { isOfKind, WATCHED_RESOURCES } from '../../providers/provider-resources.ts';

/** The kind, in its best version, and the place. */
export interface ShimPlace {
  readonly resource: Resource;
  readonly key: ObjectKey;
}

/** `kamaji.clastix.io/v1alpha1 TenantControlPlane tenants/blue`; undefined for an object of no provider. */
export function shimKeyOf({ apiVersion, kind, metadata }: KubeObject): string | undefined {
  const resource = WATCHED_RESOURCES.find((one) => isOfKind(one, { apiVersion, kind }));
  return resource && shimKeyAt(resource, metadata);
}

/** The key of an object of this kind at this place. */
export function shimKeyAt({ apiVersion, kind }: Resource, at: ObjectKey): string {
  return `${apiVersion} ${kind} ${keyText(at)}`;
}

/** What a key says; undefined for one that is none. */
export function shimPlaceOf(text: string): ShimPlace | undefined {
  const [apiVersion, kind, place = ''] = text.split(' ');
  const resource = WATCHED_RESOURCES.find(
    (one) => one.apiVersion === apiVersion && one.kind === kind,
  );
  const [namespace, name] = place.split('/');
  if (resource === undefined || namespace === undefined || name === undefined) return undefined;
  return { resource, key: { namespace, name } };
}
