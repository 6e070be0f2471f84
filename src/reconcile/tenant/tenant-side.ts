/**
 * The tenant's side of an Exposure: everything that lives in the tenant's own cluster, brought there and taken away.
 */
import { APPLIED_ANNOTATION, needsApply } from '../../kube/apply/needs-apply.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { readObject } from '../../kube/object-read.ts';
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
import { trimDaemonSet, validDaemonSet } from './link/trim-objects.ts';
import type { TenantLink } from './link/tenant-link.ts';
import type { TenantView } from './link/tenant-view.ts';

/** What may be in a tenant besides its slices and its DaemonSet, which are watched. Found by name: no list is needed. */
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

/** As whom the operator writes. */
const FIELD_MANAGER = 'snicket';

/** All of our objects in a tenant, as they are, ours or not. */
export async function readTenantSide(
  view: TenantView,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  await view.synced(signal);
  // One after the other, on one connection: what takes time is the handshake, and Bun keeps too few connections for a
  // thousand tenants to have one in store.
  const named: KubeObject[] = [];
  for (const { apiVersion, kind, metadata } of BY_NAME) {
    const found = await view.reader.get(resourceOf({ apiVersion, kind }), metadata, { signal });
    if (found !== undefined) named.push({ ...found, apiVersion, kind });
  }
  return [
    ...view.slices.list().map((slice) => named1(slice, RESOURCES.endpointSlice)),
    ...view.daemonSets.list().map((set) => named1(set, RESOURCES.daemonSet)),
    ...named,
  ];
}

/** Items of lists come without their kind. */
function named1(object: KubeObject, { apiVersion, kind }: Resource): KubeObject {
  return { ...object, apiVersion, kind };
}

/** An object as it should be, and as it is; nothing if it is not there. */
export interface WantedTenantObject {
  readonly desired: KubeObject;
  readonly live: KubeObject | undefined;
  /** Not yet: endpoints that somebody else keeps, and that work, are taken over when there is a proxy to lead to. */
  readonly waits: boolean;
}

/** What to do in a tenant. What is as it should be is among the wanted ones too. */
export interface TenantChanges {
  readonly wanted: readonly WantedTenantObject[];
  readonly prunable: readonly KubeObject[];
  /** Why nothing is to be done: what is there is not ours to change. */
  readonly obstacle?: Finding | undefined;
}

/** What has to change in a tenant for a plan. */
export function tenantChanges(
  planned: readonly KubeObject[],
  live: readonly KubeObject[],
): TenantChanges {
  const foreign = foreignIn(planned, live);
  if (foreign !== undefined) {
    return { wanted: [], prunable: [], obstacle: nameTaken(foreign) };
  }
  const mustWait = !mayLead(live);
  return {
    wanted: planned.map((object) => ({
      desired: object,
      live: find(live, object),
      waits: mustWait && leads(object),
    })),
    prunable: live.filter((object) => isOurs(object) && find(planned, object) === undefined),
  };
}

/** Endpoints are taken over, for they are the point of it all; nothing else of somebody else is touched. */
function foreignIn(
  planned: readonly KubeObject[],
  live: readonly KubeObject[],
): KubeObject | undefined {
  return planned
    .filter((desired) => !leads(desired))
    .map((desired) => find(live, desired))
    .find((object) => object !== undefined && !isOurs(object));
}

function nameTaken(object: KubeObject): Finding {
  return {
    code: 'NameTaken',
    severity: 'error',
    message: `${objectText(object)} of the tenant is there and was not made by Snicket`,
    action: 'remove or rename it',
  };
}

/** Whether there is something to write. */
export function areNeeded({ wanted, prunable }: TenantChanges): boolean {
  return (
    prunable.length > 0 ||
    wanted.some(({ desired, live, waits }) => !waits && needsApply(desired, live))
  );
}

/**
 * The objects of a tenant with the proxies as they are now: a watch that was cut off has an old version of them.
 * @throws KubeError
 */
export async function withProxiesOfNow(
  { client }: TenantLink,
  live: readonly KubeObject[],
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const { daemonSet } = RESOURCES;
  const found = await client.get<DaemonSetWithStatus>(daemonSet, PROXY, { signal });
  const others = live.filter(({ kind }) => kind !== daemonSet.kind);
  return found === undefined
    ? others
    : [...others, named1(readObject(found, trimDaemonSet), daemonSet)];
}

/** The tenant's side after an apply. */
export interface TenantApplied {
  /** All objects as they are then; the watches come later. */
  readonly after: readonly KubeObject[];
  /** When to look again, if somebody undoes what we write. */
  readonly retryInMs: number | undefined;
}

/**
 * Makes the changes.
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
  const foreign = live.filter((object) => !isOurs(object) && find(planned, object) === undefined);
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
    if (object !== undefined && applied.outcome === 'applied') link.wrote(object);
    if (applied.outcome === 'held') {
      retryInMs = Math.min(retryInMs ?? Number.POSITIVE_INFINITY, applied.retryInMs);
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
 * Deletes objects that are ours, each only if it is the very one that was observed, and the proxies last.
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
      if (!isKubeError(error, 'Conflict')) throw error; // made anew by somebody in between: not ours to delete
    }
  }
}

/**
 * Whether an object is one that Snicket made: by its label or, should somebody have taken that away, by the note of what
 * was applied last. Endpoints are known by the label alone, for others write those too. An API server that keeps the endpoints itself again makes its slice anew,
 * but writes into the Endpoints that it finds, and leaves our label on them: so those are whose addresses they have.
 */
export function isOurs({ kind, metadata }: KubeObject): boolean {
  const { labels = {}, annotations = {}, managedFields = [] } = metadata;
  const isLabelled = Object.entries(MANAGED_BY).every(([key, value]) => labels[key] === value);
  if (kind === RESOURCES.endpointSlice.kind) return isLabelled;
  if (kind !== RESOURCES.endpoints.kind) return isLabelled || APPLIED_ANNOTATION in annotations;
  const wrote = managedFields.filter(({ fieldsV1 = {} }) => 'f:subsets' in fieldsV1);
  return isLabelled && wrote.some(({ manager }) => manager === FIELD_MANAGER);
}

/** Whether an object leads the tenant's pods to their API. */
export function leads({ kind, metadata }: KubeObject): boolean {
  return (
    kind === RESOURCES.endpointSlice.kind ||
    (kind === RESOURCES.endpoints.kind && metadata.name === KUBERNETES.name)
  );
}

function mayLead(live: readonly KubeObject[]): boolean {
  const slices = live.filter(({ kind }) => kind === RESOURCES.endpointSlice.kind);
  const foreignWorks = slices.some(
    (slice) => !isOurs(slice) && ((slice as EndpointSlice).endpoints ?? []).some(isReady),
  );
  if (!foreignWorks || slices.some(isOurs)) return true;
  const daemonSet = live.find(({ kind }) => kind === RESOURCES.daemonSet.kind);
  return ((daemonSet as DaemonSetWithStatus | undefined)?.status?.numberReady ?? 0) > 0;
}

function find(objects: readonly KubeObject[], like: KubeObject): KubeObject | undefined {
  return objects.find(
    ({ kind, metadata }) => kind === like.kind && keyText(metadata) === keyText(like.metadata),
  );
}
