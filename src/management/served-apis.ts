/**
 * Which of the kinds of edges and providers the management cluster serves. Controllers are installed and removed while
 * the operator runs, so this is asked again and again.
 */
import { ROUTE_RESOURCES } from '../edges/driver-for.ts';
import type { ServedApis } from '../edges/driver.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isKubeError, type KubeError } from '../kube/kube-error.ts';
import { RESOURCES, type Resource } from '../kube/resource.ts';
import { servedVersion, versionsOf, WATCHED_RESOURCES } from '../providers/provider-resources.ts';

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

/** What came of a look. */
export interface ServedLook {
  /** Whether something has come or gone. */
  readonly isChanged: boolean;
  /** Why not all of it was answered; undefined if it was. */
  readonly error: KubeError | undefined;
}

/** What is served, as of the last look. */
export class ServedBook implements ServedApis {
  #served: ReadonlySet<string> = new Set();
  /** By apiVersion, the last answers. */
  readonly #answers = new Map<string, readonly string[]>();
  /** Whether every one has been answered once. */
  #isComplete = false;

  has({ apiVersion, plural }: Resource): boolean {
    return this.#served.has(`${apiVersion}/${plural}`);
  }

  /** Looks anew. What is not answered is as it was. @throws KubeError while something was never answered */
  async refresh(client: KubeClient, signal: AbortSignal): Promise<ServedLook> {
    const apiVersions = [...new Set(ASKED_RESOURCES.map(({ apiVersion }) => apiVersion))];
    // A server that is busy at the start is not asked all of it again.
    const asked = apiVersions.filter((one) => this.#isComplete || !this.#answers.has(one));
    const answers = await Promise.allSettled(
      asked.map(async (apiVersion) => {
        const plurals = await client.servedPlurals(apiVersion, { signal });
        this.#answers.set(
          apiVersion,
          [...plurals].map((plural) => `${apiVersion}/${plural}`),
        );
      }),
    );
    const failed = answers.find((answer) => answer.status === 'rejected');
    this.#isComplete = apiVersions.every((one) => this.#answers.has(one));
    const error: unknown = failed?.reason;
    if (failed !== undefined && !(this.#isComplete && isKubeError(error))) throw failed.reason;
    const served = new Set([...this.#answers.values()].flat());
    const isSame = served.size === this.#served.size && served.isSubsetOf(this.#served);
    this.#served = served;
    return { isChanged: !isSame, error: isKubeError(error) ? error : undefined };
  }
}
