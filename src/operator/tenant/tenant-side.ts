/**
 * The tenant's side of an Exposure: everything that lives in the tenant's own cluster, brought there and taken away.
 */
import type { Applier } from '../../kube/apply.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES, resourceOf, type Resource } from '../../kube/resource.ts';
import { MANAGED_BY } from '../../plan/labels.ts';
import { isReady, type EndpointSlice } from '../../tenant/endpoint-slice.ts';
import { injectionPolicy } from '../../tenant/injection.ts';
import { KUBERNETES } from '../../tenant/kubernetes-endpoints.ts';
import { PROXY, PROXY_CA } from '../../tenant/proxy-names.ts';
import type { TenantLink } from './tenant-link.ts';
import type { LiveDaemonSet, TenantView } from './tenant-view.ts';

/** What may be in a tenant besides its slices and its DaemonSet, which are watched. Found by name: no list is needed. */
const BY_NAME: readonly Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>[] = [
  { apiVersion: 'v1', kind: 'Endpoints', metadata: KUBERNETES },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: PROXY },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: PROXY_CA },
  { apiVersion: 'v1', kind: 'Secret', metadata: PROXY },
  ...injectionPolicy('', 1).map(({ apiVersion, kind, metadata: { name } }) => ({
    ...{ apiVersion, kind, metadata: { name } },
  })),
];

/** All of our objects in a tenant, as they are, ours or not. */
export async function readTenantSide(
  view: TenantView,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  await view.synced(signal);
  const named = await Promise.all(
    BY_NAME.map(async ({ apiVersion, kind, metadata }) => {
      const resource = resourceOf({ apiVersion, kind });
      const found = await view.client.get(resource, metadata, { signal });
      return found === undefined ? [] : [{ ...found, apiVersion, kind }];
    }),
  );
  return [
    ...view.slices.list().map((slice) => named1(slice, RESOURCES.endpointSlice)),
    ...view.daemonSets.list().map((set) => named1(set, RESOURCES.daemonSet)),
    ...named.flat(),
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

/** What has to change in a tenant for a plan. What is as it should be is among the wanted ones too. */
export function tenantChanges(
  planned: readonly KubeObject[],
  live: readonly KubeObject[],
): {
  readonly wanted: readonly WantedTenantObject[];
  readonly superfluous: readonly KubeObject[];
} {
  const mustWait = !mayLead(live);
  return {
    wanted: planned.map((desired) => ({
      ...{ desired, live: find(live, desired), waits: mustWait && leads(desired) },
    })),
    superfluous: live.filter((object) => isOurs(object) && find(planned, object) === undefined),
  };
}

/** The tenant's side after an apply. */
export interface TenantApplied {
  /** All objects as they are then; the watches come later. */
  readonly after: readonly KubeObject[];
  /** When to look again, if somebody undoes what we write. */
  readonly retryInMs: number | undefined;
}

/**
 * Applies what is planned and removes what is not any more.
 *
 * @throws KubeError
 */
export async function applyTenantSide(
  link: TenantLink,
  applier: Applier,
  planned: readonly KubeObject[],
  live: readonly KubeObject[],
  signal: AbortSignal,
): Promise<TenantApplied> {
  const { wanted, superfluous } = tenantChanges(planned, live);
  const foreign = live.filter((object) => !isOurs(object) && find(planned, object) === undefined);
  const after = [...foreign];
  let retryInMs: number | undefined;
  for (const { desired, live: present, waits } of wanted) {
    if (waits) {
      if (present !== undefined) after.push(present);
      continue;
    }
    const applied = await applier.applyIfNeeded(desired, present, { force: true, signal });
    const { apiVersion, kind } = desired;
    if (applied.object !== undefined) after.push({ ...applied.object, apiVersion, kind });
    if (applied.outcome === 'held') {
      retryInMs = Math.min(retryInMs ?? Number.POSITIVE_INFINITY, applied.retryInMs);
    }
  }
  await remove(link, superfluous, signal);
  return { after, retryInMs };
}

/** Deletes objects that are ours, each only if it is the very one that was looked at. @throws KubeError */
export async function remove(
  { client }: TenantLink,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  for (const object of objects) {
    const { name, namespace, uid } = object.metadata;
    try {
      await client.delete(resourceOf(object), { name, namespace }, { uid, signal });
    } catch (error) {
      if (!isKubeError(error, 'Conflict')) throw error; // made anew by somebody in between: not ours to delete
    }
  }
}

/** Whether an object is one that Snicket made. */
export function isOurs({ metadata: { labels = {} } }: KubeObject): boolean {
  return Object.entries(MANAGED_BY).every(([key, value]) => labels[key] === value);
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
  return ((daemonSet as LiveDaemonSet | undefined)?.status?.numberReady ?? 0) > 0;
}

function find(objects: readonly KubeObject[], like: KubeObject): KubeObject | undefined {
  return objects.find(
    ({ kind, metadata }) => kind === like.kind && keyText(metadata) === keyText(like.metadata),
  );
}
