/**
 * What is kept of a tenant's objects, and how much of it: its API server may send whatever it likes.
 */
import type { InformerBounds } from '../../../kube/informer/bounds.ts';
import { withShallowManagedFields } from '../../../kube/managed-fields.ts';
import type { ObjectMeta } from '../../../kube/object.ts';
import type { ContainerStatus, ProxyPod } from '../../../probe/hops/proxies.ts';
import type { EndpointSlice } from '../../../kube/endpoints/endpoint-slice.ts';
import { placedProxies, type DaemonSetWithStatus } from '../../../tenant/proxy-addresses.ts';

const MB = 1024 * 1024;

/** Room for the largest cluster that Kubernetes supports, 5,000 nodes, and for little more. */
export const TENANT_BOUNDS = {
  // Ours have 1,000 endpoints each; those of others 100.
  slices: { objects: 200, bytes: 4 * MB },
  daemonSets: { objects: 1, bytes: MB / 4 },
  nodes: { objects: 6_000, bytes: 4 * MB },
  // Two on each node while it changes from one to the next.
  pods: { objects: 12_000, bytes: 12 * MB },
} as const satisfies Record<string, InformerBounds>;

/** A slice, with who else writes it. */
export const seenSlice: (slice: EndpointSlice) => EndpointSlice = withShallowManagedFields;

/** What of the proxies' DaemonSet is planned or looked at. @throws TypeError for one that is none */
export function seenDaemonSet(object: DaemonSetWithStatus): DaemonSetWithStatus {
  const { apiVersion, kind, metadata, spec } = soundDaemonSet(object);
  const { generation, labels, annotations = {} } = metadata;
  const ours = Object.entries(annotations).filter(([name]) => name.startsWith('snicket.dev/'));
  const { selector, updateStrategy, template } = spec;
  return {
    apiVersion,
    kind,
    metadata: {
      ...identityOf(metadata),
      ...(generation !== undefined && { generation }),
      ...(labels !== undefined && { labels }),
      annotations: Object.fromEntries(ours),
    },
    spec: { selector, updateStrategy, template },
    status: countsOf(object),
  };
}

/** The same one. @throws TypeError if its counts are none, or its containers */
export function soundDaemonSet(object: DaemonSetWithStatus): DaemonSetWithStatus {
  placedProxies(object);
  countsOf(object);
  assertCount('metadata.generation', object.metadata.generation);
  return object;
}

const COUNTS = [
  'observedGeneration',
  'desiredNumberScheduled',
  'numberReady',
  'updatedNumberScheduled',
] as const;

function countsOf({ status }: DaemonSetWithStatus): NonNullable<DaemonSetWithStatus['status']> {
  const found = COUNTS.map((name) => [name, status?.[name]] as const);
  for (const [name, value] of found) assertCount(`status.${name}`, value);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

/** As large as a number of pods can be, in the API. */
const MAX_COUNT = 2 ** 31 - 1;

/** They are shown, compared, and written into a status of ours. */
function assertCount(path: string, value: unknown): void {
  if (value === undefined) return;
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_COUNT) return;
  throw new TypeError(`${path} is ${JSON.stringify(value)}, which counts nothing`);
}

/** What tells how a proxy is, and on which node. */
export function seenPod({ apiVersion, kind, metadata, spec, status }: ProxyPod): ProxyPod {
  const { creationTimestamp, deletionTimestamp } = metadata;
  const { nodeName } = spec ?? {};
  const { conditions = [], containerStatuses, initContainerStatuses } = status ?? {};
  const ready = conditions.filter(({ type }) => type === 'Ready');
  return {
    apiVersion,
    kind,
    metadata: {
      ...identityOf(metadata),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    spec: nodeName === undefined ? {} : { nodeName },
    status: {
      conditions: ready.map(({ type, status: is, lastTransitionTime }) => ({
        type,
        status: is,
        lastTransitionTime,
      })),
      ...(initContainerStatuses !== undefined && {
        initContainerStatuses: initContainerStatuses.map(seenContainer),
      }),
      ...(containerStatuses !== undefined && {
        containerStatuses: containerStatuses.map(seenContainer),
      }),
    },
  };
}

function seenContainer({ name, image, ready, state }: ContainerStatus): ContainerStatus {
  const { reason } = state?.waiting ?? {};
  return {
    name,
    ...(image !== undefined && { image }),
    ...(ready !== undefined && { ready }),
    ...(reason !== undefined && { state: { waiting: { reason } } }),
  };
}

function identityOf({ name, namespace, uid, resourceVersion }: ObjectMeta): ObjectMeta {
  return {
    name,
    namespace,
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}
