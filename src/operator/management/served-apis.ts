/**
 * Which of the kinds of edges and providers the management cluster serves. Controllers are installed and removed while
 * the operator runs, so this is asked again and again.
 */
import { ROUTE_RESOURCES } from '../../edges/driver-for.ts';
import type { ServedApis } from '../../edges/driver.ts';
import type { KubeClient } from '../../kube/client.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import {
  servedVersion,
  versionsOf,
  WATCHED_RESOURCES,
} from '../../providers/provider-resources.ts';

/** The kinds that say how an edge is set up. */
export const EDGE_RESOURCES: readonly Resource[] = [
  RESOURCES.ingressClass,
  RESOURCES.gateway,
  RESOURCES.gatewayClass,
];

/** All that may be served or not; of providers' kinds every version. */
const ASKED_RESOURCES: readonly Resource[] = [
  ...ROUTE_RESOURCES,
  ...EDGE_RESOURCES,
  ...WATCHED_RESOURCES.flatMap(versionsOf),
];

/** Those of them that are worth a watch: of providers' kinds one version each. */
export function servedKinds(served: ServedApis): readonly Resource[] {
  return [
    ...[...ROUTE_RESOURCES, ...EDGE_RESOURCES].filter((resource) => served.has(resource)),
    ...WATCHED_RESOURCES.flatMap((resource) => servedVersion(resource, served) ?? []),
  ];
}

/** What is served, as of the last look. */
export class ServedBook implements ServedApis {
  #served: ReadonlySet<string> = new Set();
  /** By apiVersion, of a look that is not complete yet: a server that is busy is not asked all of it again. */
  readonly #answers = new Map<string, readonly string[]>();

  has({ apiVersion, plural }: Resource): boolean {
    return this.#served.has(`${apiVersion}/${plural}`);
  }

  /** Looks anew; true if something has come or gone. @throws KubeError, and what was known stays. */
  async refresh(client: KubeClient, signal: AbortSignal): Promise<boolean> {
    const apiVersions = new Set(ASKED_RESOURCES.map(({ apiVersion }) => apiVersion));
    const asked = [...apiVersions].filter((apiVersion) => !this.#answers.has(apiVersion));
    const answers = await Promise.allSettled(
      asked.map(async (apiVersion) => {
        const plurals = await client.servedPlurals(apiVersion, { signal });
        this.#answers.set(
          apiVersion,
          [...plurals].map((plural) => `${apiVersion}/${plural}`),
        );
      }),
    );
    const failed = answers.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    const served = new Set([...this.#answers.values()].flat());
    this.#answers.clear();
    const isSame = served.size === this.#served.size && served.isSubsetOf(this.#served);
    this.#served = served;
    return !isSame;
  }
}
