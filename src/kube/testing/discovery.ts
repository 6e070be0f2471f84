/**
 * For tests only: the discovery documents of a server.
 */
import { groupOf, type Resource } from '../resource.ts';
import { hasStatus } from '../store/apply/list-types.ts';
import type { JsonObject } from '../store/json.ts';

/** The version that the server reports. */
export const SERVER_VERSION = 'v1.36.3';

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** Returns the document at a path, or undefined if there is none. */
export function discoveryDocument(
  path: string,
  resources: readonly Resource[],
): JsonObject | string | undefined {
  const groups = new Set(resources.map(({ apiVersion }) => groupOf(apiVersion)));
  const [, root, group = '', version = ''] = path.split('/');
  if (path === '/version') {
    const [, major, minor] = /^v(\d+)\.(\d+)/.exec(SERVER_VERSION) ?? [];
    return { major, minor, gitVersion: SERVER_VERSION, platform: 'linux/amd64' };
  }
  if (['/readyz', '/livez', '/healthz'].includes(path)) return 'ok';
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (root === 'api' && version === '') return resourceList(group, resources);
  if (path === '/apis') {
    const list = [...groups]
      .filter((name) => name !== '')
      .map((name) => groupOfName(name, resources));
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: list };
  }
  if (root !== 'apis' || !groups.has(group)) return undefined;
  if (version !== '') return resourceList(`${group}/${version}`, resources);
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupOfName(group, resources) };
}

/** The order in which resources were registered is the order of preference. */
function groupOfName(name: string, resources: readonly Resource[]): JsonObject {
  const served = resources.filter(({ apiVersion }) => groupOf(apiVersion) === name);
  const versions = [...new Set(served.map(({ apiVersion }) => apiVersion))].map((groupVersion) => ({
    groupVersion,
    version: groupVersion.slice(groupVersion.indexOf('/') + 1),
  }));
  return { name, versions, preferredVersion: versions[0] };
}

function resourceList(
  groupVersion: string,
  resources: readonly Resource[],
): JsonObject | undefined {
  const served = resources.filter(({ apiVersion }) => apiVersion === groupVersion);
  if (served.length === 0) return undefined;
  const list = served.flatMap(({ plural, kind, namespaced }) => [
    { name: plural, singularName: kind.toLowerCase(), namespaced, kind, verbs: VERBS },
    ...(hasStatus(kind)
      ? [
          {
            name: `${plural}/status`,
            singularName: '',
            namespaced,
            kind,
            verbs: ['get', 'patch', 'update'],
          },
        ]
      : []),
  ]);
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: list };
}
