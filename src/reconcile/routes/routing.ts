/**
 * The management side of an Exposure: its route objects, applied and judged.
 */
import type { Edge } from '../../api/edge.ts';
import { MANAGED_BY } from '../../api/labels.ts';
import type { TenantRoute } from '../../api/tenant-route.ts';
import type { Clock } from '../../clock/clock.ts';
import { driverFor } from '../../edges/driver-for.ts';
import { formerRoutes } from '../../edges/former-routes.ts';
import type { Applied, Applier } from '../../kube/apply/apply.ts';
import { keyText, type KubeObject, type OwnerReference } from '../../kube/object.ts';
import { OutdatedError } from '../../kube/outdated-error.ts';
import { resourceOf } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';
import type { Plan } from '../../plan/plan.ts';
import { isServedBy, isTenantRoute } from '../../plan/tenant-routes.ts';
import type { ManagementAccess } from '../../management/management-view.ts';
import type { KnownHop } from '../conditions/hop-conditions.ts';
import { madeFor, nameTaken, routeChanges, type WantedObject } from './route-changes.ts';
import { edgeContext, edgeReadError, routeFindings } from '../../management/edge-state.ts';
import { fails, holds, notYet, waits, type ConditionState } from '../conditions/condition-state.ts';

/** What {@link Routing} works with. */
export interface RoutingOptions {
  readonly management: ManagementAccess;
  readonly applier: Applier;
  /** Of the operator. */
  readonly namespace: string;
  /** Called when the writes of the first TenantRoutes of hosts have ended, with the key of their Exposure. */
  readonly onHostsReleased: (hosts: readonly string[], key: string) => void;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

/** What became of a plan. */
export interface Routed {
  /** Whether routes are as planned now. If not, those from before stay. */
  readonly isInForce: boolean;
  /** Objects of another driver, from before. They stay until {@link Routing.remove}: somebody may still go by them. */
  readonly former: readonly KubeObject[];
  /** TenantRoutes of previous hosts, Edges and drivers. They stay until {@link Routing.remove}, for the same reason. */
  readonly previous: readonly TenantRoute[];
  /** Whether the Exposure is routed by another Edge or driver than the one that it asks for. */
  readonly isElsewhere: boolean;
  /** Whether all TenantRoutes were as planned before. */
  readonly isRoutedAsPlanned: boolean;
  /** An object of somebody else has a name that we need. */
  readonly obstacle?: Finding | undefined;
  /** When to look again, if somebody undoes what we write. */
  readonly requeueAfterMs?: number | undefined;
}

/** Puts plans for the management cluster into force. */
export class Routing {
  readonly #options: RoutingOptions;

  constructor(options: RoutingOptions) {
    this.#options = options;
  }

  /**
   * Applies the objects of a plan and removes those of an earlier one, but for the former ones.
   *
   * @throws OutdatedError if a host has been granted to another Exposure since the plan was made; KubeError
   */
  async apply(exposure: KubeObject, edge: Edge, plan: Plan, signal: AbortSignal): Promise<Routed> {
    this.#mustKnow(edge, plan);
    const changes = await routeChanges(this.#options, exposure, edge, plan, signal);
    if (changes === undefined) return this.#asBefore(exposure, edge);
    const { previous, isElsewhere, isRoutedAsPlanned } = changes;
    const waitsMs: number[] = [];
    const release = this.#reserveHosts(keyText(exposure.metadata), changes.wanted);
    try {
      for (const { desired, live } of changes.wanted) {
        const adopted = live && (await this.#adopted(desired, live, signal));
        const applied = await this.#applied(desired, adopted, signal);
        if (applied.outcome === 'held') waitsMs.push(applied.retryInMs);
      }
    } finally {
      release();
    }
    const former = plan.routes === undefined ? [] : formerRoutes(changes.superfluous, edge);
    const kept = new Set<KubeObject>([...former, ...previous]);
    await this.remove(
      changes.superfluous.filter((object) => !kept.has(object)),
      signal,
    );
    return {
      isInForce: !changes.isBlocked,
      former,
      previous,
      isElsewhere,
      isRoutedAsPlanned,
      obstacle: changes.taken && nameTaken(changes.taken),
      requeueAfterMs: waitsMs.length === 0 ? undefined : Math.min(...waitsMs),
    };
  }

  /**
   * Reserves the hosts of the wanted TenantRoutes for their Exposure, until the returned function is called.
   *
   * @throws OutdatedError if another Exposure owns one of them
   */
  #reserveHosts(key: string, wanted: readonly WantedObject[]): () => void {
    const { management, onHostsReleased } = this.#options;
    const { exposureIndex, tenantRoutes } = management;
    const routed = new Set(tenantRoutes.ofExposure(key).map(({ spec }) => spec.host));
    const hosts = wanted.flatMap(({ desired }) =>
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
  async #applied<T extends KubeObject>(
    desired: T,
    live: T | undefined,
    signal: AbortSignal,
  ): Promise<Applied<T>> {
    const { applier, management } = this.#options;
    const options = { force: true, signal };
    return management.tenantRoutes.write(
      async () => applier.applyIfNeeded(desired, live, options),
      ({ outcome, object }) =>
        outcome === 'applied' && isTenantRoute(object) ? object : undefined,
    );
  }

  /** Of a plan that says nothing: what is there stays. */
  #asBefore(exposure: KubeObject, edge: Edge): Routed {
    const routes = this.#options.management.tenantRoutes.ofExposure(keyText(exposure.metadata));
    const isElsewhere = routes.length > 0 && !routes.some((route) => isServedBy(route, edge));
    return { isInForce: false, former: [], previous: [], isElsewhere, isRoutedAsPlanned: false };
  }

  /**
   * The live object without references to an Exposure of the same name that is gone, as a restore from backup may leave
   * them. An apply would keep them, and the API server refuses a second controller.
   *
   * @throws KubeError
   */
  async #adopted<T extends KubeObject>(desired: T, live: T, signal: AbortSignal): Promise<T> {
    const { ownerReferences: owners = [] } = desired.metadata;
    const { ownerReferences = [], resourceVersion } = live.metadata;
    const others = ownerReferences.filter(
      (one) => !owners.some(({ kind, name, uid }) => isStale(one, { kind, name, uid })),
    );
    if (others.length === ownerReferences.length) return live;
    const known = new Set(others.map(({ uid }) => uid));
    const all = [...others, ...owners.filter(({ uid }) => !known.has(uid))];
    const body = { metadata: { resourceVersion, ownerReferences: all } };
    const { client } = this.#options.management;
    return client.patch<T>(resourceOf(desired), desired.metadata, 'merge', body, { signal });
  }

  /** What is there of a kind that we may not read is not known: nothing could be told of it. @throws KubeError */
  #mustKnow(edge: Edge, { routes }: Plan): void {
    if (routes === undefined) return;
    const error = edgeReadError(this.#options.management, edge);
    if (error !== undefined) throw error;
  }

  /** Removes all that was made for an Exposure. @throws KubeError */
  async withdraw(exposure: KubeObject, signal: AbortSignal): Promise<void> {
    await this.remove(madeFor(this.#options, exposure), signal);
  }

  /** Removes the TenantRoutes of an Exposure that is gone, by its key: they would reserve their hosts. @throws KubeError */
  async removeTenantRoutes(key: string, signal: AbortSignal): Promise<void> {
    const routes = this.#options.management.tenantRoutes.ofExposure(key);
    await this.remove(routes.filter(isManaged), signal);
  }

  /** Removes these, as they are; one made anew in between stays. @throws KubeError */
  async remove(objects: readonly KubeObject[], signal: AbortSignal): Promise<void> {
    const { client } = this.#options.management;
    for (const object of objects) {
      const { name, namespace, uid } = object.metadata;
      await client.delete(resourceOf(object), { name, namespace }, { uid, signal });
    }
  }

  /** Whether the routes are in force, as far as can be told. */
  condition(
    exposure: KubeObject,
    edge: Edge,
    plan: Plan,
    hops: readonly KnownHop[],
  ): ConditionState {
    const { routes } = plan;
    if (routes === undefined) return notYet('Prepared');
    const wrong = [
      ...plan.findings.filter(({ about }) => about === 'routes'),
      ...routeFindings(this.#options, exposure, plan, edge),
    ].find(({ severity }) => severity === 'error');
    if (wrong !== undefined) return fails(wrong);
    const { management } = this.#options;
    const driver = driverFor(edge.spec.driver);
    const context = edgeContext(this.#options, edge, exposure.metadata.namespace);
    const admission = driver.admitted(routes, management.ownedBy(exposure), context);
    const { code, message, action = '' } = admission;
    switch (admission.state) {
      case 'Admitted':
        return holds('Admitted', message);
      case 'Refused':
        return fails({ code, severity: 'error', message, action });
      case 'Pending':
        return waits(code, message);
      case 'Unknown':
        return provedByHandshake(hops);
    }
  }
}

/** Whether Snicket created an object, by its label. */
function isManaged({ metadata: { labels = {} } }: KubeObject): boolean {
  return Object.entries(MANAGED_BY).every(([label, value]) => labels[label] === value);
}

/** Whether a reference names the owner, and another uid. */
function isStale(
  reference: OwnerReference,
  { kind, name, uid }: Pick<OwnerReference, 'kind' | 'name' | 'uid'>,
): boolean {
  return reference.kind === kind && reference.name === name && reference.uid !== uid;
}

/** Some controllers never say what they did with a route. */
function provedByHandshake(hops: readonly KnownHop[]): ConditionState {
  const sni = hops.find(({ name }) => name === 'sni');
  if (sni?.state === 'Pass') {
    return holds('ProvedByHandshake', 'a handshake through the edge reaches the tenant');
  }
  return {
    ...{ status: 'Unknown', reason: 'NotTold' },
    message: `the controller does not say what it did with the routes, and no handshake has come through yet${sni === undefined ? '' : `: ${sni.message}`}`,
  };
}
