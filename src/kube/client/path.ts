/**
 * Where objects are in the API of a server.
 */
import { KubeError } from '../kube-error.ts';
import type { ObjectKey } from '../object.ts';
import type { Resource } from '../resource.ts';

/** Of one version of a group. */
export function versionPath(apiVersion: string): string {
  const [first = '', second] = apiVersion.split('/');
  return second === undefined
    ? `/api/${segment(first)}`
    : `/apis/${segment(first)}/${segment(second)}`;
}

/** Of all objects of a kind, or those of one namespace. */
export function collectionPath(
  { apiVersion, plural, namespaced }: Resource,
  namespace?: string,
): string {
  const within = namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : '';
  return `${versionPath(apiVersion)}${within}/${segment(plural)}`;
}

/** Of one object. */
export function objectPath(resource: Resource, key: ObjectKey, subresource?: 'status'): string {
  const collection = collectionPath(resource, namespaceFor(resource, key));
  return `${collection}/${segment(key.name)}${subresource === undefined ? '' : `/${subresource}`}`;
}

/** Where an object is. @throws KubeError if it has to be somewhere and does not say so */
export function namespaceFor(
  resource: Resource,
  { name, namespace }: ObjectKey,
): string | undefined {
  if (!resource.namespaced || namespace !== undefined) return namespace;
  throw new KubeError('Invalid', `${resource.kind} ${name} is in a namespace; say in which`);
}

/**
 * A part of a path. Nothing at all, or dots, would make another path of it: to delete the object with the empty name is
 * to delete them all.
 */
function segment(text: string): string {
  if (text !== '' && text !== '.' && text !== '..') return encodeURIComponent(text);
  throw new KubeError(
    'Invalid',
    `"${text}" cannot be part of a path of the API; no object has that name`,
  );
}
