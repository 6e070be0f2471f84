/**
 * How the lists and maps of each kind are merged. A real API server reads this from its schemas.
 */

/** How several managers share a list or a map. */
type Topology =
  /** One manager owns all of it. */
  | { readonly type: 'atomic' }
  /** A list of strings with an owner each. */
  | { readonly type: 'set' }
  /** A list of objects, identified by these fields. */
  | { readonly type: 'map'; readonly keys: readonly string[] };

const ATOMIC: Topology = { type: 'atomic' };
const by = (...keys: readonly string[]): Topology => ({ type: 'map', keys });

type Lists = Readonly<Record<string, Topology>>;

const OF_ALL_KINDS: Lists = {
  'metadata.finalizers': { type: 'set' },
  'metadata.ownerReferences': by('uid'),
  'status.conditions': by('type'),
};

const OF_PODS: Lists = {
  volumes: by('name'),
  imagePullSecrets: by('name'),
  hostAliases: by('ip'),
  ...Object.fromEntries(
    ['containers', 'initContainers'].flatMap((list) => [
      [list, by('name')],
      [`${list}.ports`, by('containerPort', 'protocol')],
      [`${list}.env`, by('name')],
      [`${list}.volumeMounts`, by('mountPath')],
    ]),
  ),
};

const OF_KINDS: Readonly<Record<string, Lists>> = {
  Pod: below('spec', OF_PODS),
  DaemonSet: {
    ...below('spec.template.spec', { ...OF_PODS, nodeSelector: ATOMIC }),
    'spec.selector': ATOMIC,
  },
  Service: { 'spec.ports': by('port', 'protocol'), 'spec.selector': ATOMIC },
  ServiceAccount: { secrets: by('name') },
  Node: { 'status.addresses': by('type') },
  Gateway: { 'spec.listeners': by('name') },
};

function below(path: string, lists: Lists): Lists {
  return Object.fromEntries(Object.entries(lists).map(([name, type]) => [`${path}.${name}`, type]));
}

/** Returns the topology of a list. Unknown lists are atomic, as in a CRD. `path` has dots, and no items. */
export function listTopology(kind: string, path: string): Topology {
  return OF_KINDS[kind]?.[path] ?? OF_ALL_KINDS[path] ?? ATOMIC;
}

/** Reports whether a map is atomic. */
export function isAtomicMap(kind: string, path: string): boolean {
  return OF_KINDS[kind]?.[path]?.type === 'atomic';
}

/** Defaults of the key fields of list items. */
export const KEY_DEFAULTS: Readonly<Record<string, unknown>> = { protocol: 'TCP' };

/** Kinds without a status subresource and without a generation. */
const WITHOUT_STATUS: ReadonlySet<string> = new Set([
  'ConfigMap',
  'Secret',
  'ServiceAccount',
  'Endpoints',
  'EndpointSlice',
  'Lease',
  'Event',
  'IngressClass',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

/** Reports whether the kind has a status subresource, as Snicket's kinds do. */
export function hasStatus(kind: string): boolean {
  return !WITHOUT_STATUS.has(kind);
}
