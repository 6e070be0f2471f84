/**
 * Which of the kinds that edges use the management cluster serves. Controllers are installed and removed while the
 * operator runs, so this is asked again and again.
 */
import { ROUTE_RESOURCES } from '../../edges/driver-for.ts';
import type { ServedApis } from '../../edges/driver.ts';
import type { KubeClient } from '../../kube/client.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';

/** The kinds that say how an edge is set up. */
export const EDGE_RESOURCES: readonly Resource[] = [
  RESOURCES.ingressClass,
  RESOURCES.gateway,
  RESOURCES.gatewayClass,
];

/** What is served, as of the last look. */
export class ServedBook implements ServedApis {
  #served: ReadonlySet<string> = new Set();

  has({ apiVersion, plural }: Resource): boolean {
    return this.#served.has(`${apiVersion}/${plural}`);
  }

  /** Looks anew; true if something has come or gone. @throws KubeError, and what was known stays. */
  async refresh(client: KubeClient, signal: AbortSignal): Promise<boolean> {
    const apiVersions = new Set(
      [...ROUTE_RESOURCES, ...EDGE_RESOURCES].map(({ apiVersion }) => apiVersion),
    );
    const found = await Promise.all(
      [...apiVersions].map(async (apiVersion) => {
        const plurals = await client.servedPlurals(apiVersion, { signal });
        return [...plurals].map((plural) => `${apiVersion}/${plural}`);
      }),
    );
    const served = new Set(found.flat());
    const isSame = served.size === this.#served.size && served.isSubsetOf(this.#served);
    this.#served = served;
    return !isSame;
  }
}
