/**
 * The URL paths of objects.
 */
import { KubeError } from '../kube-error.ts';
import type { ObjectKey } from '../object.ts';
import { RESOURCES, type Resource } from '../resource.ts';

/** Returns the path of a group version. */
export function versionPath(apiVersion: string): string {
  const [first = '', second] = apiVersion.split('/');
  return second === undefined
    ? `/api/${segment(first)}`
    : `/apis/${segment(first)}/${segment(second)}`;
}

/** Returns the path of all objects of a kind, or of those in one namespace. */
export function collectionPath(
  { apiVersion, plural, namespaced }: Resource,
  namespace?: string,
): string {
  const namespacePath =
    namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : '';
  return `${versionPath(apiVersion)}${namespacePath}/${segment(plural)}`;
}

/** Returns the path of an object. */
export function objectPath(resource: Resource, key: ObjectKey, subresource?: 'status'): string {
  const collection = collectionPath(resource, namespaceFor(resource, key));
  return `${collection}/${segment(key.name)}${subresource === undefined ? '' : `/${subresource}`}`;
}

/** Returns the path of `/healthz` of a node's kubelet, which the API server proxies. */
export function kubeletPath(node: string): string {
  return `${objectPath(RESOURCES.node, { name: node })}/proxy/healthz`;
}

/** Returns the namespace of an object. @throws KubeError if the kind is namespaced and the key has no namespace */
export function namespaceFor(
  resource: Resource,
  { name, namespace }: ObjectKey,
): string | undefined {
  if (!resource.namespaced || namespace !== undefined) return namespace;
  throw new KubeError('Invalid', `${resource.kind} ${name} requires a namespace`);
}

/**
 * Returns an encoded path segment. An empty segment or dots would change the path: deleting the object with an empty
 * name would delete the whole collection.
 */
function segment(text: string): string {
  if (text !== '' && text !== '.' && text !== '..') return encodeURIComponent(text);
  throw new KubeError('Invalid', `"${text}" is not a valid object name`);
}
