/**
 * Trims the watched objects of a tenant to the fields that the operator uses, and limits their number and size: a tenant's API
 * server is not trusted.
 */
import type { InformerBounds } from '../../../kube/informer/bounds.ts';
import { withShallowManagedFields } from '../../../kube/managed-fields.ts';
import type { ObjectMeta } from '../../../kube/object.ts';
import type { ContainerStatus, ProxyPod } from '../../../probe/hops/proxies.ts';
import type { EndpointSlice } from '../../../kube/endpoints/endpoint-slice.ts';
import { proxyState, type DaemonSetWithStatus } from '../../../tenant/proxy-addresses.ts';

const MB = 1024 * 1024;

/** Enough for the largest cluster that Kubernetes supports, with 5,000 nodes. */
export const TENANT_BOUNDS = {
  // Snicket's slices have 1,000 endpoints each; those of Kubernetes have 100.
  slices: { objects: 200, bytes: 4 * MB },
  daemonSets: { objects: 1, bytes: MB / 4 },
  nodes: { objects: 6_000, bytes: 4 * MB },
  // Two on each node during a rollout.
  pods: { objects: 12_000, bytes: 12 * MB },
} as const satisfies Record<string, InformerBounds>;

/** A slice with the names of its field managers, but without their fields. */
export const trimEndpointSlice: (slice: EndpointSlice) => EndpointSlice = withShallowManagedFields;

/** The fields of the proxies' DaemonSet that are planned or observed. @throws TypeError for an invalid DaemonSet */
export function trimDaemonSet(object: DaemonSetWithStatus): DaemonSetWithStatus {
  const { apiVersion, kind, metadata, spec } = validDaemonSet(object);
  const { generation, labels, annotations = {} } = metadata;
  const ours = Object.entries(annotations).filter(([name]) => name.startsWith('snicket.dev/'));
  const { selector, updateStrategy, template } = spec;
  return {
    apiVersion,
    kind,
    metadata: {
      ...identityOf(metadata),
      generation,
      labels,
      annotations: Object.fromEntries(ours),
    },
    spec: { selector, updateStrategy, template },
    status: countsOf(object),
  };
}

/** Returns the DaemonSet itself. @throws TypeError if its counts or containers are invalid */
export function validDaemonSet(object: DaemonSetWithStatus): DaemonSetWithStatus {
  proxyState(object);
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

/** The largest int32, the type of these counts in the API. */
const MAX_COUNT = 2 ** 31 - 1;

/** Counts are compared, and written to the status of the Exposure. */
function assertCount(path: string, value: unknown): void {
  if (value === undefined) return;
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_COUNT) return;
  throw new TypeError(`${path} is ${JSON.stringify(value)}, which is not a count`);
}

/** The fields that show the node and the readiness of a proxy. */
export function trimPod({ apiVersion, kind, metadata, spec, status }: ProxyPod): ProxyPod {
  const { creationTimestamp, deletionTimestamp } = metadata;
  const { nodeName } = spec ?? {};
  const { conditions = [], containerStatuses, initContainerStatuses } = status ?? {};
  const ready = conditions.filter(({ type }) => type === 'Ready');
  return {
    apiVersion,
    kind,
    metadata: { ...identityOf(metadata), creationTimestamp, deletionTimestamp },
    spec: { nodeName },
    status: {
      conditions: ready.map(({ type, status: is, lastTransitionTime }) => ({
        type,
        status: is,
        lastTransitionTime,
      })),
      initContainerStatuses: initContainerStatuses?.map(trimContainer),
      containerStatuses: containerStatuses?.map(trimContainer),
    },
  };
}

function trimContainer({ name, image, ready, state }: ContainerStatus): ContainerStatus {
  const { reason } = state?.waiting ?? {};
  return { name, image, ready, state: reason === undefined ? undefined : { waiting: { reason } } };
}

function identityOf({ name, namespace, uid, resourceVersion }: ObjectMeta): ObjectMeta {
  return { name, namespace, uid, resourceVersion };
}
