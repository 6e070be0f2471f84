/**
 * The watches of kinds that may be served or not: routes and settings of edges, and objects of providers.
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
import { gatewayPart, providedPart } from './kept-parts.ts';
import type { ManagementListener } from './management-listener.ts';
import { ownerIndex, ownerOf } from '../../management/owned.ts';

/** A kind that may be served or not, and is. */
interface Watched {
  readonly resource: Resource;
  readonly informer: Informer<KubeObject>;
  readonly end: AbortController;
}

/** What {@link ServedWatches} works with. */
export interface ServedWatchesOptions {
  readonly client: KubeClient;
  readonly listener: ManagementListener;
  readonly clock: Clock;
  /** From 0 to 1, for the spread of delays. */
  readonly random: () => number;
  readonly counters: InformerCounters;
}

/** All of them. */
export class ServedWatches {
  readonly #client: KubeClient;
  readonly #listener: ManagementListener;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #counters: InformerCounters;
  /** By apiVersion and kind. */
  readonly #watched = new Map<string, Watched>();

  constructor({ client, listener, clock, random, counters }: ServedWatchesOptions) {
    this.#client = client;
    this.#listener = listener;
    this.#clock = clock;
    this.#random = random;
    this.#counters = counters;
  }

  /** Starts a watch for each of these that has none, and ends all others. */
  follow(kinds: readonly Resource[], signal: AbortSignal): void {
    const wanted = new Map(kinds.map((kind) => [nameOf(kind), kind]));
    for (const [name, { end }] of this.#watched) {
      if (wanted.has(name)) continue;
      end.abort();
      this.#watched.delete(name);
    }
    for (const [name, resource] of wanted) {
      if (!this.#watched.has(name)) this.#watched.set(name, this.#watch(resource, signal));
    }
  }

  /** Once each has been read, or cannot be. @throws the signal's reason */
  async read(signal: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#watched.values()].map(async (one) => readOrRefused(one, this.#clock, signal)),
    );
  }

  /** The copy of a kind; undefined if it is not served. */
  of(resource: Resource): Informer<KubeObject> | undefined {
    return this.#watched.get(nameOf(resource))?.informer;
  }

  /** The copies of all kinds. */
  all(): readonly Informer<KubeObject>[] {
    return [...this.#watched.values()].map(({ informer }) => informer);
  }

  /** Why objects of a kind that is served are not known; nothing if they are. */
  unread(resource: Resource): KubeError | undefined {
    const { hasSynced, lastError } = this.of(resource)?.state ?? {};
    if (hasSynced !== false) return undefined;
    return lastError ?? new KubeError('TimedOut', `${resource.plural} are not read yet`);
  }

  #watch(resource: Resource, signal: AbortSignal): Watched {
    const [client, listener] = [this.#client, this.#listener];
    const isRoute = ROUTE_RESOURCES.includes(resource);
    const informer = new Informer<KubeObject>({
      client,
      resource,
      clock: this.#clock,
      random: this.#random,
      counters: this.#counters,
      ...(resource === RESOURCES.gateway && { trim: gatewayPart }),
      ...(isProvided(resource) && { trim: providedPart }),
      indexes: {
        exposure: ownerIndex,
        // Every Exposure asks who else claims its hosts: of a thousand routes none but its own, most of the time.
        claim: isRoute ? claimKeys : () => [],
      },
    });
    informer.onChange((change) => {
      if (isProvided(resource)) {
        listener.onProvided(change.object);
        return;
      }
      if (!isRoute) {
        listener.onEdgeSetting(change.object, previousOf(change));
        return;
      }
      // Before as well as after: what it was, or whose, may be what somebody waits to see the end of.
      for (const object of [change.object, previousOf(change)]) {
        const owner = object && ownerOf(object);
        if (owner !== undefined) listener.onOwned(owner);
        // One that says it is of an Exposure may be in the way of another.
        if (object !== undefined) listener.onForeignRoute(object);
      }
    });
    const end = new AbortController();
    void informer.run(AbortSignal.any([signal, end.signal]));
    return { resource, informer, end };
  }
}

/** Whether a refusal is mended is looked at so often, while all work waits. */
const REFUSED_MS = 50;

/** So often a list has to fail until it is not waited for: most faults at a start are gone with the next try. */
const PATIENCE_FAILURES = 3;

/**
 * A kind that we have no right to is not waited for, nor one that fails again and again, as with a webhook that is down: it
 * must not hold up the tenants of all others, and Edges that need it say so. @throws the signal's reason
 */
async function readOrRefused(
  { resource, informer }: Watched,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const isRefused = ({ reason }: KubeError, failures: number) =>
    reason === 'Forbidden' || isProvided(resource) || failures >= PATIENCE_FAILURES;
  for (;;) {
    const { hasSynced, lastError, failures } = informer.state;
    if (hasSynced || (lastError !== undefined && isRefused(lastError, failures))) return;
    signal.throwIfAborted();
    await delay(clock, REFUSED_MS, signal);
  }
}

/** What an object was before a change. */
export function previousOf<T extends KubeObject>(change: Change<T>): T | undefined {
  return change.type === 'MODIFIED' ? change.previous : undefined;
}

/** Whether a kind is a provider's, and watched. */
export function isProvided(resource: Resource): boolean {
  return WATCHED_RESOURCES.some((kind) => isOfKind(kind, resource));
}

function nameOf({ apiVersion, kind }: Resource): string {
  return `${apiVersion} ${kind}`;
}
