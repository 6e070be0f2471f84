/**
 * For tests only: parses API paths.
 */
import type { Resource } from '../resource.ts';

/** A parsed path. */
export type ApiPath =
  | { readonly kind: 'document'; readonly path: string }
  | {
      readonly kind: 'objects';
      readonly resource: Resource;
      /** Absent for cluster-scoped objects, or for all namespaces. */
      readonly namespace: string | undefined;
      /** Absent for a collection. */
      readonly name: string | undefined;
      readonly subresource: string | undefined;
    };

const OBJECTS =
  /^\/(?:api\/(?<core>v[^/]+)|apis\/(?<group>[^/]+)\/(?<version>v[^/]+))(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>[^/]+))?$/;

/** Parses a path on a server with these resources. Returns undefined if it does not exist. */
export function parseApiPath(
  pathname: string,
  resources: readonly Resource[],
): ApiPath | undefined {
  const path = pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname;
  for (const reading of readings(path)) {
    const resource = resources.find(
      ({ apiVersion, plural }) => apiVersion === reading.apiVersion && plural === reading.plural,
    );
    if (resource === undefined) continue;
    const { namespace, name, subresource } = reading;
    if (namespace !== undefined && !resource.namespaced) continue;
    // A namespaced object needs a namespace.
    if (name !== undefined && resource.namespaced && namespace === undefined) return undefined;
    return { kind: 'objects', resource, namespace, name, subresource };
  }
  return OBJECTS.test(path) ? undefined : { kind: 'document', path };
}

interface Reading {
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/**
 * Returns the possible readings of a path: `/namespaces/a/status` is the status of a Namespace, or the kind `status` in
 * it.
 */
function readings(path: string): readonly Reading[] {
  const found = OBJECTS.exec(path)?.groups;
  if (found === undefined) return [];
  const { core, group, version, plural = '', namespace, name, subresource } = found;
  const apiVersion = core ?? `${group}/${version}`;
  const first: Reading = { apiVersion, plural, namespace, name, subresource };
  if (namespace === undefined || subresource !== undefined) return [first];
  return [
    first,
    {
      apiVersion,
      plural: 'namespaces',
      namespace: undefined,
      name: namespace,
      subresource: plural,
    },
  ];
}
