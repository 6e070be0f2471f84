/**
 * For tests only: which objects a URL means.
 */
import type { Resource } from '../resource.ts';

/** What a path of the API asks for. */
export type ApiPath =
  | { readonly kind: 'document'; readonly path: string }
  | {
      readonly kind: 'objects';
      readonly resource: Resource;
      /** Absent for the whole cluster, or all namespaces. */
      readonly namespace: string | undefined;
      /** Absent for all of them. */
      readonly name: string | undefined;
      readonly subresource: string | undefined;
    };

const OBJECTS =
  /^\/(?:api\/(?<core>v[^/]+)|apis\/(?<group>[^/]+)\/(?<version>v[^/]+))(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>[^/]+))?$/;

/** What a path means on a server with these resources; undefined if nothing. */
export function readPath(pathname: string, resources: readonly Resource[]): ApiPath | undefined {
  const path = pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname;
  for (const reading of readings(path)) {
    const resource = resources.find(
      ({ apiVersion, plural }) => apiVersion === reading.apiVersion && plural === reading.plural,
    );
    if (resource === undefined) continue;
    const { namespace, name, subresource } = reading;
    if (namespace !== undefined && !resource.namespaced) continue;
    // An object of a namespace is found nowhere else.
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

/** `/namespaces/a/status` is a Namespace's own subresource, or objects of the kind `status` in it. */
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
