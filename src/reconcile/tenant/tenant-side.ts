/**
 * Reads, applies and removes the objects of an Exposure in the tenant's cluster.
 */
import { APPLIED_ANNOTATION, needsApply } from '../../kube/apply/needs-apply.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { readObject } from '../../kube/object-read.ts';
import { hasLabels } from '../../kube/label-selector.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES, resourceOf, type Resource } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';
import { MANAGED_BY } from '../../api/labels.ts';
import { proxiesIn } from '../../plan/ownership.ts';
import { isReady, type EndpointSlice } from '../../kube/endpoints/endpoint-slice.ts';
import { injectionPolicy } from '../../tenant/injection.ts';
import { KUBERNETES } from '../../tenant/endpoints/kubernetes-endpoints.ts';
import { PROXY, PROXY_CONFIG } from '../../tenant/proxy-names.ts';
import type { DaemonSetWithStatus } from '../../tenant/proxy-addresses.ts';
import { soonest } from '../requeue.ts';
import { trimDaemonSet, validDaemonSet } from './link/trim-objects.ts';
import type { TenantLink } from './link/tenant-link.ts';
import type { TenantView } from './link/tenant-view.ts';

/** Objects in a tenant that are read by name. Slices and the DaemonSet are watched. */
const BY_NAME: readonly Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>[] = [
  { apiVersion: 'v1', kind: 'Endpoints', metadata: KUBERNETES },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: PROXY },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: PROXY_CONFIG },
  { apiVersion: 'v1', kind: 'Secret', metadata: PROXY },
  ...injectionPolicy('', 1).map(({ apiVersion, kind, metadata: { name } }) => ({
    apiVersion,
    kind,
    metadata: { name },
  })),
];

/** The operator's field manager. */
const FIELD_MANAGER = 'snicket';

/** All live objects in a tenant that have names of Snicket's objects, foreign ones included. */
export async function readTenantSide(
  view: TenantView,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  await view.synced(signal);
  // One after the other, on one connection: the handshake takes most of the time, and Bun's connection pool is too small for a
  // thousand tenants.
  const named: KubeObject[] = [];
  for (const { apiVersion, kind, metadata } of BY_NAME) {
    const found = await view.reader.get(resourceOf({ apiVersion, kind }), metadata, { signal });
    if (found !== undefined) named.push({ ...found, apiVersion, kind });
  }
  return [
    ...view.slices.list().map((slice) => withKind(slice, RESOURCES.endpointSlice)),
    ...view.daemonSets.list().map((set) => withKind(set, RESOURCES.daemonSet)),
    ...named,
  ];
}

/** Items of lists lack their kind. */
function withKind(object: KubeObject, { apiVersion, kind }: Resource): KubeObject {
  return { ...object, apiVersion, kind };
}

/** A desired object, and the live one; undefined if it does not exist. */
interface WantedTenantObject {
  readonly desired: KubeObject;
  readonly live: KubeObject | undefined;
  /** Whether the apply waits: working endpoints of another client are taken over only once a proxy is ready. */
  readonly waits: boolean;
}

/** The changes in a tenant. `wanted` includes objects that are up to date. */
export interface TenantChanges {
  readonly wanted: readonly WantedTenantObject[];
  readonly prunable: readonly KubeObject[];
  /** Why nothing is changed: a foreign object has a name that is needed. */
  readonly obstacle?: Finding | undefined;
}

/** The changes in a tenant for a plan. */
export function tenantChanges(
  planned: readonly KubeObject[],
  live: readonly KubeObject[],
): TenantChanges {
  const foreign = foreignIn(planned, live);
  if (foreign !== undefined) {
    return { wanted: [], prunable: [], obstacle: nameTaken(foreign) };
  }
  const mustWait = !mayTakeOverEndpoints(live);
  return {
    wanted: planned.map((object) => ({
      desired: object,
      live: find(live, object),
      waits: mustWait && isEndpoints(object),
    })),
    prunable: live.filter((object) => isManaged(object) && find(planned, object) === undefined),
  };
}

/** A foreign object with a desired name. Foreign endpoints do not count, because they are taken over. */
function foreignIn(
  planned: readonly KubeObject[],
  live: readonly KubeObject[],
): KubeObject | undefined {
  return planned
    .filter((desired) => !isEndpoints(desired))
    .map((desired) => find(live, desired))
    .find((object) => object !== undefined && !isManaged(object));
}

function nameTaken(object: KubeObject): Finding {
  return {
    code: 'NameConflict',
    severity: 'error',
    message: `${objectText(object)} of the tenant already exists and was not created by Snicket.`,
    action: 'Delete or rename it.',
  };
}

/** Whether there are writes. */
export function areNeeded({ wanted, prunable }: TenantChanges): boolean {
  return (
    prunable.length > 0 ||
    wanted.some(({ desired, live, waits }) => !waits && needsApply(desired, live))
  );
}

/**
 * The objects of a tenant with the current DaemonSet: a disconnected watch has an old version of it.
 * @throws KubeError
 */
export async function withCurrentProxies(
  { client }: TenantLink,
  live: readonly KubeObject[],
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const { daemonSet } = RESOURCES;
  const found = await client.get<DaemonSetWithStatus>(daemonSet, PROXY, { signal });
  const others = live.filter(({ kind }) => kind !== daemonSet.kind);
  return found === undefined
    ? others
    : [...others, withKind(readObject(found, trimDaemonSet), daemonSet)];
}

/** The objects of a tenant after an apply. */
interface TenantApplied {
  /** All objects after the writes. The watches report them later. */
  readonly after: readonly KubeObject[];
  /** When to apply again, if another client reverts the objects. */
  readonly retryInMs: number | undefined;
}

/**
 * Applies the changes.
 *
 * @throws KubeError
 */
export async function applyTenantSide(
  link: TenantLink,
  { wanted, prunable }: TenantChanges,
  live: readonly KubeObject[],
  signal: AbortSignal,
): Promise<TenantApplied> {
  const planned = wanted.map(({ desired }) => desired);
  const foreign = live.filter(
    (object) => !isManaged(object) && find(planned, object) === undefined,
  );
  const after = [...foreign];
  let retryInMs: number | undefined;
  for (const { desired, live: present, waits } of wanted) {
    if (waits) {
      if (present !== undefined) after.push(present);
      continue;
    }
    const applied = await link.applier.applyIfNeeded(desired, present, { force: true, signal });
    const { apiVersion, kind } = desired;
    const object = applied.object && validated({ ...applied.object, apiVersion, kind });
    if (object !== undefined) after.push(object);
    if (object !== undefined && applied.outcome === 'applied') {
      readObject(object, (written) => link.wrote(written));
    }
    if (applied.outcome === 'held') {
      retryInMs = soonest(retryInMs, applied.retryInMs);
    }
  }
  await remove(link, prunable, signal);
  return { after, retryInMs };
}

/** The response to a write is validated like a watched object. @throws KubeError `Malformed` */
function validated(object: KubeObject): KubeObject {
  if (object.kind !== RESOURCES.daemonSet.kind) return object;
  return readObject(object as DaemonSetWithStatus, validDaemonSet);
}

/**
 * Deletes Snicket's objects, each only if it is still the observed one, and the proxies last.
 * @throws KubeError
 */
export async function remove(
  { client, reader }: TenantLink,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  const proxies = proxiesIn(objects);
  const inOrder = [
    ...objects.filter((object) => object !== proxies),
    ...(proxies ? [proxies] : []),
  ];
  for (const object of inOrder) {
    const { name, namespace, uid } = object.metadata;
    reader.forget(resourceOf(object), { name, namespace });
    try {
      await client.delete(resourceOf(object), { name, namespace }, { uid, signal });
    } catch (error) {
      if (!isKubeError(error, 'Conflict')) throw error; // another client has created it again
    }
  }
}

/**
 * Whether Snicket manages an object: by its label, or by the annotation of the last apply if the label was removed. Slices are
 * recognized by the label alone. An API server that maintains the endpoints itself again creates its own slice, but updates the
 * existing Endpoints and keeps Snicket's label on them. So Endpoints belong to the field manager of their addresses.
 */
export function isManaged(object: KubeObject): boolean {
  const { kind, metadata } = object;
  const { annotations = {}, managedFields = [] } = metadata;
  const isLabeled = hasLabels(object, MANAGED_BY);
  if (kind === RESOURCES.endpointSlice.kind) return isLabeled;
  if (kind !== RESOURCES.endpoints.kind) return isLabeled || APPLIED_ANNOTATION in annotations;
  const wrote = managedFields.filter(({ fieldsV1 = {} }) => 'f:subsets' in fieldsV1);
  return isLabeled && wrote.some(({ manager }) => manager === FIELD_MANAGER);
}

/** Whether an object contains the endpoints that the tenant's pods use for their API. */
export function isEndpoints({ kind, metadata }: KubeObject): boolean {
  return (
    kind === RESOURCES.endpointSlice.kind ||
    (kind === RESOURCES.endpoints.kind && metadata.name === KUBERNETES.name)
  );
}

function mayTakeOverEndpoints(live: readonly KubeObject[]): boolean {
  const slices = live.filter(({ kind }) => kind === RESOURCES.endpointSlice.kind);
  const foreignWorks = slices.some(
    (slice) => !isManaged(slice) && ((slice as EndpointSlice).endpoints ?? []).some(isReady),
  );
  if (!foreignWorks || slices.some(isManaged)) return true;
  const daemonSet = live.find(({ kind }) => kind === RESOURCES.daemonSet.kind);
  return ((daemonSet as DaemonSetWithStatus | undefined)?.status?.numberReady ?? 0) > 0;
}

function find(objects: readonly KubeObject[], like: KubeObject): KubeObject | undefined {
  return objects.find(
    ({ kind, metadata }) => kind === like.kind && keyText(metadata) === keyText(like.metadata),
  );
}
