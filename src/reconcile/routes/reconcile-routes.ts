/**
 * Writes the route objects of Exposures: observe, plan, apply.
 */
import { exposureKeyOf } from '../../api/host-ownership.ts';
import { MANAGED_BY } from '../../api/labels.ts';
import type { Applied } from '../../kube/apply/apply.ts';
import { hasLabels } from '../../kube/label-selector.ts';
import { keyText, type KubeObject, type OwnerReference } from '../../kube/object.ts';
import { OutdatedError } from '../../kube/outdated-error.ts';
import { resourceOf } from '../../kube/resource.ts';
import { edgeReadError } from '../../management/edge-state.ts';
import { markOf, prunable } from '../../plan/ownership.ts';
import type { DesiredExposure, Plan } from '../../plan/plan.ts';
import { isTenantRoute } from '../../plan/tenant-routes.ts';
import type { ReconcileDeps } from '../reconcile-deps.ts';
import { soonest } from '../requeue.ts';
import { observeRoutes } from './observe-routes.ts';
import { planRoutes, type PlannedObject, type RouteState } from './plan-routes.ts';

/** The routes of an Exposure after a reconcile. */
export interface ReconciledRoutes extends RouteState {
  /** When to reconcile again, if another client reverts what is written. */
  readonly requeueAfterMs?: number | undefined;
}

/**
 * Applies the routes of a plan, and removes those of earlier ones that are not needed any more.
 *
 * @throws OutdatedError if another Exposure has got a host since the plan was made; KubeError
 */
export async function reconcileRoutes(
  desired: DesiredExposure,
  plan: Plan,
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<ReconciledRoutes> {
  // Objects of a kind that cannot be read are unknown: nothing can be decided about them.
  const readError = plan.routes && edgeReadError(deps.management, desired.edge);
  if (readError !== undefined) throw readError;
  const observation = await observeRoutes(deps, desired, plan, signal);
  const { apply, remove, ...state } = planRoutes(observation);
  const waitsMs: number[] = [];
  const release = reserveHosts(keyText(desired.exposure.metadata), apply, deps);
  try {
    for (const object of apply) {
      const applied = await applyRoute(object, deps, signal);
      if (applied.outcome === 'held') waitsMs.push(applied.retryInMs);
    }
  } finally {
    release();
  }
  await removeRoutes(remove, deps, signal);
  return { ...state, requeueAfterMs: soonest(...waitsMs) };
}

/** Removes everything that was created for an Exposure. @throws KubeError */
export async function withdrawRoutes(
  exposure: KubeObject,
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<void> {
  const owned = deps.management.ownedBy(exposure);
  await removeRoutes(prunable(owned, [], markOf(exposure)), deps, signal);
}

/** Removes the TenantRoutes of an Exposure that is gone, by its key: they would reserve their hosts. @throws KubeError */
export async function removeTenantRoutes(
  key: string,
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<void> {
  const routes = deps.management.tenantRoutes.ofExposure(key);
  await removeRoutes(
    routes.filter((route) => hasLabels(route, MANAGED_BY)),
    deps,
    signal,
  );
}

/** Removes these objects. One that was created again since stays. @throws KubeError */
export async function removeRoutes(
  objects: readonly KubeObject[],
  { management }: ReconcileDeps,
  signal: AbortSignal,
): Promise<void> {
  for (const object of objects) {
    const { name, namespace, uid } = object.metadata;
    await management.client.delete(resourceOf(object), { name, namespace }, { uid, signal });
  }
}

/**
 * Reserves the hosts of TenantRoutes for their Exposure, until the returned function is called.
 *
 * @throws OutdatedError if another Exposure owns one of them
 */
function reserveHosts(
  key: string,
  planned: readonly PlannedObject[],
  { management, onHostsReleased }: ReconcileDeps,
): () => void {
  const { exposureIndex, tenantRoutes } = management;
  const routed = new Set(tenantRoutes.ofExposure(key).map(({ spec }) => spec.host));
  const hosts = planned.flatMap(({ desired }) => (isTenantRoute(desired) ? desired.spec.host : []));
  if (!exposureIndex.reserve(hosts, key)) {
    throw new OutdatedError(`a host of Exposure ${key} has been granted to another Exposure`);
  }
  const first = hosts.filter((host) => !routed.has(host));
  return () => {
    exposureIndex.release(hosts, key);
    if (first.length > 0) onHostsReleased(first, key);
  };
}

/** Applies an object. A TenantRoute counts at once: another Exposure may claim its host before the watch reports it. */
async function applyRoute(
  { desired, live }: PlannedObject,
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<Applied<KubeObject>> {
  const { applier, management, onHostsReleased } = deps;
  const adopted = live && (await adoptedObject(desired, live, deps, signal));
  const applied = await management.tenantRoutes.write(
    async () => applier.applyIfNeeded(desired, adopted, { force: true, signal }),
    ({ outcome, object }) => (outcome === 'applied' && isTenantRoute(object) ? object : undefined),
  );
  // Another client may have changed the host: the Exposures that claim the other one wait for it.
  const isTaken = live !== undefined && isTenantRoute(live) && isTenantRoute(desired);
  if (isTaken && applied.outcome === 'applied' && live.spec.host !== desired.spec.host) {
    onHostsReleased([live.spec.host], exposureKeyOf(desired));
  }
  return applied;
}

/**
 * The live object without references to an Exposure of the same name that is gone, as a restore from backup may leave
 * them. An apply would keep them, and the API server refuses a second controller.
 *
 * @throws KubeError
 */
async function adoptedObject(
  desired: KubeObject,
  live: KubeObject,
  { management }: ReconcileDeps,
  signal: AbortSignal,
): Promise<KubeObject> {
  const { ownerReferences: owners = [] } = desired.metadata;
  const { ownerReferences = [], resourceVersion } = live.metadata;
  const others = ownerReferences.filter(
    (reference) => !owners.some((owner) => isStale(reference, owner)),
  );
  if (others.length === ownerReferences.length) return live;
  const known = new Set(others.map(({ uid }) => uid));
  const all = [...others, ...owners.filter(({ uid }) => !known.has(uid))];
  const body = { metadata: { resourceVersion, ownerReferences: all } };
  const { client } = management;
  return client.patch(resourceOf(desired), desired.metadata, 'merge', body, { signal });
}

/** Whether a reference has the kind and name of the owner, and another uid. */
function isStale(reference: OwnerReference, { kind, name, uid }: OwnerReference): boolean {
  return reference.kind === kind && reference.name === name && reference.uid !== uid;
}
