/**
 * Writes the route objects of Exposures: observe, plan, apply.
 */
import { exposureKeyOf } from '../../api/host-ownership.ts';
import { MANAGED_BY } from '../../api/labels.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Applied, Applier } from '../../kube/apply/apply.ts';
import { keyText, type KubeObject, type OwnerReference } from '../../kube/object.ts';
import { OutdatedError } from '../../kube/outdated-error.ts';
import { resourceOf } from '../../kube/resource.ts';
import { edgeReadError } from '../../management/edge-state.ts';
import type { ManagementAccess } from '../../management/management-view.ts';
import { markOf, prunable } from '../../plan/ownership.ts';
import type { DesiredExposure, Plan } from '../../plan/plan.ts';
import { isTenantRoute } from '../../plan/tenant-routes.ts';
import { soonest } from '../requeue.ts';
import { observeRoutes } from './observe-routes.ts';
import { planRoutes, type PlannedObject, type RouteState } from './plan-routes.ts';

/** What {@link Routing} works with. */
interface RoutingOptions {
  readonly management: ManagementAccess;
  readonly applier: Applier;
  /** Of the operator. */
  readonly namespace: string;
  /**
   * Called with the key of an Exposure when the writes of its first TenantRoutes for these hosts have ended, or when one of
   * its TenantRoutes has given them back.
   */
  readonly onHostsReleased: (hosts: readonly string[], key: string) => void;
  readonly clock: Clock;
}

/** The routes of an Exposure after a reconcile. */
export interface Routed extends RouteState {
  /** When to reconcile again, if another client reverts what is written. */
  readonly requeueAfterMs?: number | undefined;
}

/** Writes route objects. */
export class Routing {
  readonly #options: RoutingOptions;

  constructor(options: RoutingOptions) {
    this.#options = options;
  }

  /**
   * Applies the routes of a plan, and removes those of earlier ones that are not needed any more.
   *
   * @throws OutdatedError if another Exposure has got a host since the plan was made; KubeError
   */
  async reconcile(desired: DesiredExposure, plan: Plan, signal: AbortSignal): Promise<Routed> {
    const { management } = this.#options;
    // Objects of a kind that cannot be read are unknown: nothing can be decided about them.
    const readError = plan.routes && edgeReadError(management, desired.edge);
    if (readError !== undefined) throw readError;
    const observation = await observeRoutes(this.#options, desired, plan, signal);
    const { apply, remove, ...state } = planRoutes(observation);
    const waitsMs: number[] = [];
    const release = this.#reserveHosts(keyText(desired.exposure.metadata), apply);
    try {
      for (const object of apply) {
        const applied = await this.#apply(object, signal);
        if (applied.outcome === 'held') waitsMs.push(applied.retryInMs);
      }
    } finally {
      release();
    }
    await this.remove(remove, signal);
    return { ...state, requeueAfterMs: soonest(...waitsMs) };
  }

  /** Removes everything that was created for an Exposure. @throws KubeError */
  async withdraw(exposure: KubeObject, signal: AbortSignal): Promise<void> {
    const owned = this.#options.management.ownedBy(exposure);
    await this.remove(prunable(owned, [], markOf(exposure)), signal);
  }

  /** Removes the TenantRoutes of an Exposure that is gone, by its key: they would reserve their hosts. @throws KubeError */
  async removeTenantRoutes(key: string, signal: AbortSignal): Promise<void> {
    const routes = this.#options.management.tenantRoutes.ofExposure(key);
    await this.remove(routes.filter(isManaged), signal);
  }

  /** Removes these objects. One that was created again since stays. @throws KubeError */
  async remove(objects: readonly KubeObject[], signal: AbortSignal): Promise<void> {
    const { client } = this.#options.management;
    for (const object of objects) {
      const { name, namespace, uid } = object.metadata;
      await client.delete(resourceOf(object), { name, namespace }, { uid, signal });
    }
  }

  /**
   * Reserves the hosts of TenantRoutes for their Exposure, until the returned function is called.
   *
   * @throws OutdatedError if another Exposure owns one of them
   */
  #reserveHosts(key: string, planned: readonly PlannedObject[]): () => void {
    const { management, onHostsReleased } = this.#options;
    const { exposureIndex, tenantRoutes } = management;
    const routed = new Set(tenantRoutes.ofExposure(key).map(({ spec }) => spec.host));
    const hosts = planned.flatMap(({ desired }) =>
      isTenantRoute(desired) ? desired.spec.host : [],
    );
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
  async #apply(
    { desired, live }: PlannedObject,
    signal: AbortSignal,
  ): Promise<Applied<KubeObject>> {
    const { applier, management, onHostsReleased } = this.#options;
    const adopted = live && (await this.#adopted(desired, live, signal));
    const applied = await management.tenantRoutes.write(
      async () => applier.applyIfNeeded(desired, adopted, { force: true, signal }),
      ({ outcome, object }) =>
        outcome === 'applied' && isTenantRoute(object) ? object : undefined,
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
  async #adopted(desired: KubeObject, live: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    const { ownerReferences: owners = [] } = desired.metadata;
    const { ownerReferences = [], resourceVersion } = live.metadata;
    const others = ownerReferences.filter((one) => !owners.some((owner) => isStale(one, owner)));
    if (others.length === ownerReferences.length) return live;
    const known = new Set(others.map(({ uid }) => uid));
    const all = [...others, ...owners.filter(({ uid }) => !known.has(uid))];
    const body = { metadata: { resourceVersion, ownerReferences: all } };
    const { client } = this.#options.management;
    return client.patch(resourceOf(desired), desired.metadata, 'merge', body, { signal });
  }
}

/** Whether Snicket created an object, by its label. */
function isManaged({ metadata: { labels = {} } }: KubeObject): boolean {
  return Object.entries(MANAGED_BY).every(([label, value]) => labels[label] === value);
}

/** Whether a reference has the kind and name of the owner, and another uid. */
function isStale(reference: OwnerReference, { kind, name, uid }: OwnerReference): boolean {
  return reference.kind === kind && reference.name === name && reference.uid !== uid;
}
