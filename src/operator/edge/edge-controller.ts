/**
 * Says how an Edge is: whether it can be used, where it is, and by how many Exposures it is used.
 */
import type { Edge, EdgeStatus } from '../../api/edge.ts';
import { driverFor } from '../../edges/driver-for.ts';
import { setCondition } from '../../kube/conditions.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Finding } from '../../api/finding.ts';
import type { Routing } from '../exposure/routing.ts';
import { fails, holds, notYet, waits, type Verdict } from '../exposure/verdicts.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import { StatusWriter } from '../status-writer.ts';

/** What the controller works with. */
export interface EdgeControllerOptions {
  readonly management: ManagementCluster;
  readonly routing: Routing;
}

/** The controller of Edges. */
export class EdgeController {
  readonly #options: EdgeControllerOptions;
  readonly #statuses: StatusWriter<EdgeStatus>;

  constructor(options: EdgeControllerOptions) {
    this.#options = options;
    this.#statuses = new StatusWriter(options.management.client);
  }

  /** @throws KubeError */
  async reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { management } = this.#options;
    const object = management.edges.get({ name });
    if (object === undefined) this.#statuses.forget(name);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    const status = this.#statusOf(object, this.#statuses.statusOf(object));
    await this.#statuses.write(object, status, signal);
  }

  #statusOf(object: KubeObject, before: EdgeStatus | undefined): EdgeStatus {
    const { management } = this.#options;
    const { value: edge, finding } = management.book.edgeIn(object);
    const exposures = management.exposures.list().filter((exposure) => {
      const { value } = management.book.exposureIn(exposure);
      return (
        value !== undefined &&
        management.book.edgeOf(value).value?.metadata.uid === object.metadata.uid
      );
    });
    if (edge === undefined) {
      return this.#status(object, before, exposures.length, [], fails(finding), notYet('Accepted'));
    }
    const live = exposures.flatMap((exposure) => management.ownedBy(exposure));
    const addresses = this.#options.routing.addressesOf(edge, live);
    const missing = this.#apiMissing(edge);
    const accepted =
      missing === undefined ? holds('Accepted', 'the driver can write its routes') : fails(missing);
    return this.#status(
      object,
      before,
      exposures.length,
      addresses,
      accepted,
      readiness(accepted, addresses),
    );
  }

  #status(
    { metadata }: KubeObject,
    before: EdgeStatus | undefined,
    exposures: number,
    addresses: readonly string[],
    accepted: Verdict,
    ready: Verdict,
  ): EdgeStatus {
    const observedGeneration = metadata.generation ?? 0;
    const now = new Date();
    let conditions = before?.conditions ?? [];
    for (const [type, verdict] of Object.entries({ Accepted: accepted, Ready: ready })) {
      const { status, reason, message } = verdict;
      const claim = { type, status, reason, message, observedGeneration };
      conditions = setCondition(conditions, claim, now);
    }
    return {
      ...{ observedGeneration, exposures, conditions },
      ...(addresses.length > 0 && { addresses }),
    };
  }

  /** Whether the cluster has the kind of object that the driver writes. */
  #apiMissing({ spec }: Edge): Finding | undefined {
    const { requires } = driverFor(spec.driver);
    const { served } = this.#options.management;
    if (requires.length === 0 || requires.some((resource) => served.has(resource)))
      return undefined;
    const kinds = requires.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`).join(' or ');
    return {
      ...{ code: 'EdgeApiMissing', severity: 'error' },
      message: `driver ${spec.driver} writes ${kinds}, and this cluster has no such kind`,
      action: 'install the controller with its CRDs, or choose another driver',
    };
  }
}

function readiness(accepted: Verdict, addresses: readonly string[]): Verdict {
  if (accepted.status !== 'True') return { ...accepted, status: 'False' };
  if (addresses.length > 0) return holds('Ready', `the edge is at ${addresses.join(', ')}`);
  return waits(
    'AddressUnknown',
    'neither spec.addresses nor the controller says where the edge is; workers go by DNS then. Write spec.addresses, or wait for the load balancer',
  );
}
