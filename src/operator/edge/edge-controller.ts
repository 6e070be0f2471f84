/**
 * Says how an Edge is: whether it can be used, where it is, and by how many Exposures it is used.
 */
import type { Edge, EdgeStatus } from '../../api/edge.ts';
import { EDGE_PROTECTION_FINALIZER, inUseFinding } from '../../api/edge-deletion.ts';
import type { Clock } from '../../clock/clock.ts';
import { setCondition } from '../../kube/conditions.ts';
import { addFinalizer, removeFinalizer } from '../../kube/finalizer.ts';
import { parseKey, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';
import type { Routing } from '../../reconcile/routes/routing.ts';
import {
  fails,
  holds,
  noting,
  notYet,
  waits,
  type ConditionState,
} from '../../reconcile/conditions/condition-state.ts';
import { managementFault } from '../../reconcile/management-fault.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import { StatusWriter } from '../../kube/status-writer.ts';

/** A controller publishes the same addresses on every route, so a number of them will do. */
const SAMPLED_ROUTES = 100;

/** What the controller works with. */
export interface EdgeControllerOptions {
  readonly management: ManagementCluster;
  readonly routing: Routing;
  readonly clock: Clock;
  /** Whether a finalizer holds a deleted Edge while Exposures use it. */
  readonly protectsEdges: boolean;
}

/** The controller of Edges. */
export class EdgeController {
  readonly #options: EdgeControllerOptions;
  readonly #statuses: StatusWriter<EdgeStatus>;

  constructor(options: EdgeControllerOptions) {
    this.#options = options;
    this.#statuses = new StatusWriter(options.management.client);
  }

  /** @throws OutdatedError if the Edge has changed meanwhile; KubeError */
  async reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { management } = this.#options;
    const object = management.edges.get({ name });
    if (object === undefined) {
      this.#statuses.forget(name);
      return;
    }
    this.#statuses.assertCurrent(object);
    const users = [...management.exposureIndex.usersOf(name)];
    const isGoing = object.metadata.deletionTimestamp !== undefined;
    if (isGoing && users.length === 0) {
      await this.#protect(object, false, signal);
      return;
    }
    const status = this.#statusOf(object, this.#statuses.statusOf(object), users);
    await this.#statuses.write(object, status, signal);
    await this.#protect(object, users.length > 0, signal);
    const { value: edge } = management.exposureIndex.edgeIn(object);
    const unread = edge && this.#options.routing.unread(edge);
    if (unread !== undefined) throw unread; // nobody tells of a right that is given
  }

  /** Adds or removes the finalizer that holds a deleted Edge. @throws OutdatedError, KubeError */
  async #protect(object: KubeObject, isInUse: boolean, signal: AbortSignal): Promise<void> {
    const { management, protectsEdges } = this.#options;
    const latest = this.#statuses.latest(object);
    const change = isInUse && protectsEdges ? addFinalizer : removeFinalizer;
    const { client } = management;
    const changed = await change(client, RESOURCES.edge, latest, EDGE_PROTECTION_FINALIZER, {
      signal,
    });
    if (changed !== undefined && changed !== latest) this.#statuses.wrote(latest, changed);
  }

  #statusOf(
    object: KubeObject,
    before: EdgeStatus | undefined,
    exposures: readonly string[],
  ): EdgeStatus {
    const { management } = this.#options;
    const { value: edge, finding } = management.exposureIndex.edgeIn(object);
    if (edge === undefined) {
      return this.#status(object, before, exposures.length, [], fails(finding), notYet('Accepted'));
    }
    const addresses = this.#options.routing.addressesOf(edge, this.#routesOf(edge, exposures));
    const wrong = this.#wrongWith(edge);
    const accepted =
      wrong === undefined ? holds('Accepted', 'the driver can write its routes') : fails(wrong);
    return this.#status(
      object,
      before,
      exposures.length,
      addresses,
      object.metadata.deletionTimestamp === undefined
        ? noting(accepted, management.exposureIndex.defaultFinding(object))
        : fails(inUseFinding(object.metadata.name, exposures.toSorted())),
      readiness(accepted, addresses),
    );
  }

  /** Route objects of an Edge that may say where it is; none if they need not be asked. */
  #routesOf({ spec }: Edge, exposures: readonly string[]): readonly KubeObject[] {
    const { management } = this.#options;
    const routes: KubeObject[] = [];
    if (spec.addresses !== undefined || spec.driver === 'snicket') return routes;
    for (const key of exposures) {
      if (routes.length >= SAMPLED_ROUTES) break;
      const exposure = management.exposures.get(parseKey(key));
      if (exposure !== undefined) routes.push(...management.ownedBy(exposure));
    }
    return routes;
  }

  #status(
    { metadata }: KubeObject,
    before: EdgeStatus | undefined,
    exposures: number,
    addresses: readonly string[],
    accepted: ConditionState,
    ready: ConditionState,
  ): EdgeStatus {
    const observedGeneration = metadata.generation ?? 0;
    const now = this.#options.clock.now();
    let conditions = before?.conditions ?? [];
    for (const [type, state] of Object.entries({ Accepted: accepted, Ready: ready })) {
      const { status, reason, message } = state;
      const claim = { type, status, reason, message, observedGeneration };
      conditions = setCondition(conditions, claim, now);
    }
    return {
      ...{ observedGeneration, exposures, conditions },
      ...(addresses.length > 0 && { addresses, addressSummary: summaryOf(addresses) }),
    };
  }

  /** What keeps every Exposure from being routed: a right, a kind, a class or a Gateway that is not there. */
  #wrongWith(edge: Edge): Finding | undefined {
    const { routing } = this.#options;
    const unread = routing.unread(edge);
    return unread === undefined ? routing.edgeFault(edge) : managementFault(unread);
  }
}

/** A column shows a list as JSON. */
function summaryOf(addresses: readonly string[]): string {
  const shown = addresses.slice(0, 3).join(', ');
  return addresses.length > 3 ? `${shown} and ${addresses.length - 3} more` : shown;
}

function readiness(accepted: ConditionState, addresses: readonly string[]): ConditionState {
  if (accepted.status !== 'True') return { ...accepted, status: 'False' };
  if (addresses.length > 0) return holds('Ready', `the edge is at ${addresses.join(', ')}`);
  return waits(
    'AddressUnknown',
    'neither spec.addresses nor the controller says where the edge is; workers go by DNS then. Write spec.addresses, and spec.port if the Service is of type NodePort; one of type LoadBalancer gets its address in a while',
  );
}
