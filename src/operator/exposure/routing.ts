/**
 * The management side of an Exposure: its route objects, applied and judged.
 */
import type { Edge } from '../../api/edge.ts';
import type { EdgeContext } from '../../edges/driver.ts';
import { driverFor } from '../../edges/driver-for.ts';
import { strangersOn } from '../../edges/claims/strangers.ts';
import type { Applier } from '../../kube/apply.ts';
import { superfluous } from '../../kube/prune.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES, resourceOf } from '../../kube/resource.ts';
import type { Finding } from '../../plan/finding.ts';
import { EXPOSURE_LABEL } from '../../plan/labels.ts';
import type { Plan } from '../../plan/plan.ts';
import type { ExposureRoutes } from '../../plan/route.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import type { KnownHop } from './hop-verdicts.ts';
import { fails, holds, notYet, waits, type Verdict } from './verdicts.ts';

/** The Service in front of Snicket's own gateway, in the operator's namespace. */
export const GATEWAY_SERVICE = 'snicket-gateway';

/** What {@link Routing} works with. */
export interface RoutingOptions {
  readonly management: ManagementCluster;
  readonly applier: Applier;
  /** Of the operator. */
  readonly namespace: string;
}

/** Puts plans for the management cluster into force. */
export class Routing {
  readonly #options: RoutingOptions;

  constructor(options: RoutingOptions) {
    this.#options = options;
  }

  /** The addresses of an Edge: as it says, or as its controller tells them. */
  addressesOf(edge: Edge, live: readonly KubeObject[] = []): readonly string[] {
    return driverFor(edge.spec.driver).addresses(live, this.contextOf(edge));
  }

  /** Everything around routes that a driver may look at. */
  contextOf(edge: Edge, namespace?: string): EdgeContext {
    const { management, namespace: operatorNamespace } = this.#options;
    return {
      edge,
      served: management.served,
      ingressClasses: management.all(RESOURCES.ingressClass),
      gateways: management.all(RESOURCES.gateway),
      gatewayClasses: management.all(RESOURCES.gatewayClass),
      namespaceLabels: namespace === undefined ? {} : management.namespaceLabels(namespace),
      service: management.service({ namespace: operatorNamespace, name: GATEWAY_SERVICE }),
      nowMs: Date.now(),
    };
  }

  /**
   * Applies the objects of a plan and removes those of an earlier one. Nothing is removed while the new ones cannot be
   * in force: an Edge whose controller is not there yet takes no route away.
   *
   * @throws KubeError
   */
  async apply(exposure: KubeObject, edge: Edge, plan: Plan, signal: AbortSignal): Promise<void> {
    const { management: objects, routes } = plan;
    if (objects === undefined) return;
    const { management } = this.#options;
    const live = management.ownedBy(exposure);
    for (const desired of objects) await this.#applyOne(desired, live, signal);
    const isBlocked =
      routes !== undefined &&
      this.#findings(routes, edge, exposure).some(({ severity }) => severity === 'error');
    if (!isBlocked) await this.#remove(superfluous(live, objects, markOf(exposure)), signal);
  }

  /** Removes all that was made for an Exposure. @throws KubeError */
  async withdraw(exposure: KubeObject, signal: AbortSignal): Promise<void> {
    const live = this.#options.management.ownedBy(exposure);
    await this.#remove(superfluous(live, [], markOf(exposure)), signal);
  }

  /** Whether the routes are in force, as far as can be told. */
  verdict(exposure: KubeObject, edge: Edge, plan: Plan, hops: readonly KnownHop[]): Verdict {
    const { routes } = plan;
    if (routes === undefined) return notYet('Prepared');
    const wrong = [
      ...plan.findings.filter(({ about }) => about === 'routes'),
      ...this.#findings(routes, edge, exposure),
    ].find(({ severity }) => severity === 'error');
    if (wrong !== undefined) return fails(wrong);
    const { management } = this.#options;
    const driver = driverFor(edge.spec.driver);
    const context = this.contextOf(edge, exposure.metadata.namespace);
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

  #findings(routes: ExposureRoutes, edge: Edge, exposure: KubeObject): readonly Finding[] {
    const { management } = this.#options;
    const hosts = [routes.api.host, routes.konnectivity?.host].flatMap((host) => host ?? []);
    return [
      ...driverFor(edge.spec.driver).findings(
        routes,
        this.contextOf(edge, exposure.metadata.namespace),
      ),
      ...strangersOn(hosts, management.strangers(), () => false, edge),
    ];
  }

  async #applyOne(
    desired: KubeObject,
    owned: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<void> {
    const { applier, management } = this.#options;
    const isDesired = ({ kind, metadata }: KubeObject) =>
      kind === desired.kind && keyText(metadata) === keyText(desired.metadata);
    const live = owned.find(isDesired);
    if (live === undefined) {
      const resource = resourceOf(desired);
      const stranger = await management.client.get(resource, desired.metadata, { signal });
      if (stranger !== undefined && !hasOwnerOf(stranger, desired)) throw new NameTaken(stranger);
    }
    await applier.applyIfNeeded(desired, live, { force: true, signal });
  }

  async #remove(objects: readonly KubeObject[], signal: AbortSignal): Promise<void> {
    const { client } = this.#options.management;
    for (const object of objects) {
      const { name, namespace, uid } = object.metadata;
      await client.delete(resourceOf(object), { name, namespace }, { uid, signal });
    }
  }
}

/** An object of somebody else has a name that we need; it is left alone. */
export class NameTaken extends Error {
  override readonly name = 'NameTaken';
  readonly finding: Finding;

  constructor(object: KubeObject) {
    super(`${objectText(object)} is there and was not made by Snicket`);
    this.finding = {
      ...{ code: 'NameTaken', severity: 'error', message: this.message },
      action: 'remove or rename it, or give the Exposure another name',
    };
  }
}

function markOf({ metadata }: KubeObject): Parameters<typeof superfluous>[2] {
  return { labels: { [EXPOSURE_LABEL]: metadata.name }, owner: { uid: metadata.uid ?? '' } };
}

function hasOwnerOf({ metadata }: KubeObject, desired: KubeObject): boolean {
  const uids = new Set((desired.metadata.ownerReferences ?? []).map(({ uid }) => uid));
  return (metadata.ownerReferences ?? []).some(({ uid }) => uids.has(uid));
}

/** Some controllers never say what they did with a route. */
function provedByHandshake(hops: readonly KnownHop[]): Verdict {
  const sni = hops.find(({ name }) => name === 'sni');
  if (sni?.state === 'Pass') {
    return holds('ProvedByHandshake', 'a handshake through the edge reaches the tenant');
  }
  return {
    ...{ status: 'Unknown', reason: 'NotTold' },
    message: `the controller does not say what it did with the routes, and no handshake has come through yet${sni === undefined ? '' : `: ${sni.message}`}`,
  };
}
