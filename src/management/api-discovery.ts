/**
 * Discovers which kinds of edges and providers the management cluster serves. Controllers are installed and removed while the
 * operator runs, so discovery is repeated.
 */
import { ROUTE_RESOURCES } from '../edges/driver-for.ts';
import type { DiscoveredApis } from '../edges/driver.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isKubeError, type KubeError } from '../kube/kube-error.ts';
import { RESOURCES, type Resource } from '../kube/resource.ts';
import { servedVersion, versionsOf, WATCHED_RESOURCES } from '../providers/provider-resources.ts';

/** The kinds that configure an edge. */
export const EDGE_RESOURCES: readonly Resource[] = [
  RESOURCES.ingressClass,
  RESOURCES.gateway,
  RESOURCES.gatewayClass,
];

/** Every optional kind; for kinds of providers, every version. */
const OPTIONAL_RESOURCES: readonly Resource[] = [
  ...ROUTE_RESOURCES,
  ...EDGE_RESOURCES,
  ...WATCHED_RESOURCES.flatMap(versionsOf),
];

/** The discovered kinds to watch; for kinds of providers, one version each. */
export function discoveredKinds(served: DiscoveredApis): readonly Resource[] {
  return [
    ...[...ROUTE_RESOURCES, ...EDGE_RESOURCES].filter((resource) => served.has(resource)),
    ...WATCHED_RESOURCES.flatMap((resource) => servedVersion(resource, served) ?? []),
  ];
}

/** The result of a discovery. */
export interface DiscoveryResult {
  /** Whether a kind has appeared or disappeared. */
  readonly isChanged: boolean;
  /** Why the discovery is incomplete. Undefined if it is complete. */
  readonly error: KubeError | undefined;
}

/** The APIs that are served, as of the last discovery. */
export class ApiDiscovery implements DiscoveredApis {
  #served: ReadonlySet<string> = new Set();
  /** The last answers, by apiVersion. */
  readonly #answers = new Map<string, readonly string[]>();
  /** Whether every apiVersion has been answered at least once. */
  #isComplete = false;

  has({ apiVersion, plural }: Resource): boolean {
    return this.#served.has(`${apiVersion}/${plural}`);
  }

  /** Repeats the discovery. An apiVersion that fails keeps its last answer. @throws KubeError while one has never been answered */
  async refresh(client: KubeClient, signal: AbortSignal): Promise<DiscoveryResult> {
    const apiVersions = [...new Set(OPTIONAL_RESOURCES.map(({ apiVersion }) => apiVersion))];
    // At the start, only unanswered requests are repeated, to spare a busy server.
    const requested = apiVersions.filter(
      (apiVersion) => this.#isComplete || !this.#answers.has(apiVersion),
    );
    const answers = await Promise.allSettled(
      requested.map(async (apiVersion) => {
        const plurals = await client.discoverPlurals(apiVersion, { signal });
        this.#answers.set(
          apiVersion,
          [...plurals].map((plural) => `${apiVersion}/${plural}`),
        );
      }),
    );
    const failed = answers.find((answer) => answer.status === 'rejected');
    this.#isComplete = apiVersions.every((apiVersion) => this.#answers.has(apiVersion));
    const error: unknown = failed?.reason;
    if (failed !== undefined && !(this.#isComplete && isKubeError(error))) throw failed.reason;
    const served = new Set([...this.#answers.values()].flat());
    const isSame = served.size === this.#served.size && served.isSubsetOf(this.#served);
    this.#served = served;
    return { isChanged: !isSame, error: isKubeError(error) ? error : undefined };
  }
}
