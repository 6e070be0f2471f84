/**
 * Which lists and maps of which kinds are merged item by item. A real server reads it from its schemas.
 */

/** How two writers share a list or a map. */
export type Topology =
  /** All of it belongs to one writer. */
  | { readonly type: 'atomic' }
  /** Of strings; each belongs to whoever put it there. */
  | { readonly type: 'set' }
  /** Of objects, known by these fields. */
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

/** How a list is shared; one that nobody knows is atomic, as in a CRD. `path` has dots, and no items. */
export function listTopology(kind: string, path: string): Topology {
  return OF_KINDS[kind]?.[path] ?? OF_ALL_KINDS[path] ?? ATOMIC;
}

/** Whether all of a map belongs to one writer. */
export function isAtomicMap(kind: string, path: string): boolean {
  return OF_KINDS[kind]?.[path]?.type === 'atomic';
}

/** What a key field of a list is when an item does not say. */
export const KEY_DEFAULTS: Readonly<Record<string, unknown>> = { protocol: 'TCP' };

/** Kinds without a status of their own to write, nor a generation. */
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

/** Whether `status` is a subresource of the kind, as it is of ours. */
export function hasStatus(kind: string): boolean {
  return !WITHOUT_STATUS.has(kind);
}
