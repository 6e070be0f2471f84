/**
 * The watches of kinds that may or may not be served: routes and settings of edges, and objects of providers.
 */
import { claimKeys } from '../../edges/claims/claim-keys.ts';
import { ROUTE_RESOURCES } from '../../edges/driver-for.ts';
import type { Clock } from '../../clock/clock.ts';
import { delay } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { Informer } from '../../kube/informer/informer.ts';
import type { InformerCounters } from '../../kube/informer/relist.ts';
import type { Change } from '../../kube/informer/cache.ts';
import { KubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import { isOfKind, WATCHED_RESOURCES } from '../../providers/provider-resources.ts';
import { trimGateway, trimProviderObject } from './trim-objects.ts';
import { requestedEdge, requestsExposure } from '../../providers/shims/shim.ts';
import type { ManagementListener } from './management-listener.ts';
import { ownerIndex, ownerOf } from '../../management/owned.ts';

/** A served kind. */
interface Watched {
  readonly resource: Resource;
  readonly informer: Informer<KubeObject>;
  readonly end: AbortController;
}

interface DynamicWatchesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  readonly counters: InformerCounters;
}

/** Starts and stops watches as kinds appear and disappear. */
export class DynamicWatches {
  readonly #options: DynamicWatchesOptions;
  /** By apiVersion and kind. */
  readonly #watched = new Map<string, Watched>();

  constructor(options: DynamicWatchesOptions) {
    this.#options = options;
  }

  /** Starts missing watches for these kinds, and stops all others. */
  follow(kinds: readonly Resource[], listener: ManagementListener, signal: AbortSignal): void {
    const wanted = new Map(kinds.map((kind) => [nameOf(kind), kind]));
    for (const [name, { end }] of this.#watched) {
      if (wanted.has(name)) continue;
      end.abort();
      this.#watched.delete(name);
    }
    for (const [name, resource] of wanted) {
      if (!this.#watched.has(name))
        this.#watched.set(name, this.#watch(resource, listener, signal));
    }
  }

  /** Waits until every kind is synced or cannot be read. @throws the signal's reason */
  async read(signal: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#watched.values()].map(async (watched) =>
        untilReadOrRefused(watched, this.#options.clock, signal),
      ),
    );
  }

  /** The informer of a kind; undefined if it is not served. */
  of(resource: Resource): Informer<KubeObject> | undefined {
    return this.#watched.get(nameOf(resource))?.informer;
  }

  /** The informers of all kinds. */
  all(): readonly Informer<KubeObject>[] {
    return [...this.#watched.values()].map(({ informer }) => informer);
  }

  /** Why the objects of a served kind are unknown; undefined if they are known. */
  readErrorOf(resource: Resource): KubeError | undefined {
    const { hasSynced, lastError } = this.of(resource)?.state ?? {};
    if (hasSynced !== false) return undefined;
    return lastError ?? new KubeError('TimedOut', `${resource.plural} are not read yet`);
  }

  #watch(resource: Resource, listener: ManagementListener, signal: AbortSignal): Watched {
    const { client, clock, random, counters } = this.#options;
    const isRoute = ROUTE_RESOURCES.includes(resource);
    const informer = new Informer<KubeObject>({
      client,
      resource,
      clock,
      random,
      counters,
      ...(resource === RESOURCES.gateway && { trim: trimGateway }),
      ...(isProvided(resource) && { trim: trimProviderObject }),
      indexes: {
        exposure: ownerIndex,
        // Every Exposure looks up the claims of its hosts. An index avoids a scan of a thousand routes each time.
        claim: isRoute ? claimKeys : () => [],
        edge: isProvided(resource) ? requestedEdges : () => [],
      },
    });
    informer.onChange((change) => {
      if (isProvided(resource)) {
        listener.onProviderObject(change.object);
        return;
      }
      if (!isRoute) {
        listener.onEdgeSetting(change.object, previousOf(change));
        return;
      }
      // Both versions: an Exposure may wait for the previous owner or claim to disappear.
      for (const object of [change.object, previousOf(change)]) {
        const owner = object && ownerOf(object);
        if (owner !== undefined) listener.onOwnedObject(owner);
        // A route that is owned by one Exposure may conflict with another.
        if (object !== undefined) listener.onForeignRoute(object);
      }
    });
    const end = new AbortController();
    void informer.run(AbortSignal.any([signal, end.signal]));
    return { resource, informer, end };
  }
}

/** How often a failing kind is checked while the start waits for it. */
const CHECK_MS = 50;

/** After this many failed lists, the start no longer waits for a kind: most faults at a start end with the next attempt. */
const MAX_FAILURES = 3;

/**
 * Waits for a kind, unless Snicket has no permission to read it or its lists keep failing, as with a webhook that is down: one
 * kind must not delay all tenants. The status of Edges that need the kind reports it. @throws the signal's reason
 */
async function untilReadOrRefused(
  { resource, informer }: Watched,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const isRefused = ({ reason }: KubeError, failures: number) =>
    reason === 'Forbidden' || isProvided(resource) || failures >= MAX_FAILURES;
  for (;;) {
    const { hasSynced, lastError, failures } = informer.state;
    if (hasSynced || (lastError !== undefined && isRefused(lastError, failures))) return;
    signal.throwIfAborted();
    await delay(clock, CHECK_MS, signal);
  }
}

/** The Edge that an object of a provider requests by its annotation, for an index. */
function requestedEdges(object: KubeObject): readonly string[] {
  return requestsExposure(object) ? [requestedEdge(object)] : [];
}

/** The object before a change. */
export function previousOf<T extends KubeObject>(change: Change<T>): T | undefined {
  return change.type === 'MODIFIED' ? change.previous : undefined;
}

/** Whether this is a watched kind of a provider. */
export function isProvided(resource: Resource): boolean {
  return WATCHED_RESOURCES.some((kind) => isOfKind(kind, resource));
}

function nameOf({ apiVersion, kind }: Resource): string {
  return `${apiVersion} ${kind}`;
}
