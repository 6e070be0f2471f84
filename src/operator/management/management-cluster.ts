/**
 * The management cluster as the operator sees it: a copy of every kind that it looks at, kept up to date, and who has
 * to be looked at again when something changes.
 */
import { systemClock } from '../../engine/clock.ts';
import { backoffMs, delay } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client.ts';
import { Informer } from '../../kube/informer.ts';
import type { Change } from '../../kube/informer-cache.ts';
import { isKubeError, type KubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import { RecentReads } from '../../kube/recent-reads.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import type { Secret, Service } from '../../providers/plain.ts';
import { isOfKind, servedVersion, WATCHED_RESOURCES } from '../../providers/provider-resources.ts';
import type { Logger } from '../../telemetry/log.ts';
import { ExposureBook } from './exposure-book.ts';
import { claimantsOf, claimKeys } from '../../edges/claims/claim-keys.ts';
import { ROUTE_RESOURCES } from '../../edges/driver-for.ts';
import { gatewayPart, labelsOnly, providedPart, servicePart } from './kept-parts.ts';
import type { ManagementView } from './management-view.ts';
import { isOwnedBy, OWNED_SELECTOR, ownerIndex, ownerOf } from './owned.ts';
import { readFault } from './read-faults.ts';
import { servedKinds, ServedBook } from './served-apis.ts';

/** Whoever has to act on changes. */
export interface ManagementListener {
  readonly onExposure: (object: KubeObject, previous: KubeObject | undefined) => void;
  readonly onEdge: (object: KubeObject, previous: KubeObject | undefined) => void;
  /** A Service of this place. */
  readonly onService: (key: ObjectKey) => void;
  /** An object that we made for this Exposure. */
  readonly onOwned: (exposure: ObjectKey) => void;
  /** A route object of somebody else. */
  readonly onStranger: (object: KubeObject) => void;
  /** The labels of a namespace. */
  readonly onNamespace: (name: string) => void;
  /** A class or a Gateway. */
  readonly onEdgeSetting: (object: KubeObject) => void;
  /** An object of a provider. */
  readonly onProvided: (object: KubeObject) => void;
  /** Which APIs are served. */
  readonly onServed: () => void;
}

/** Options of a {@link ManagementCluster}. */
export interface ManagementOptions {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly listener: ManagementListener;
  /** How long a Secret that was read is good for another look. */
  readonly freshMs: number;
  /** How often the served APIs are looked at. Default 30,000. */
  readonly discoveryMs?: number;
}

/** A kind that may be served or not, and is. */
interface Watched {
  readonly resource: Resource;
  readonly informer: Informer<KubeObject>;
  readonly end: AbortController;
}

/** The management cluster. */
export class ManagementCluster implements ManagementView {
  readonly client: KubeClient;
  readonly served = new ServedBook();
  readonly exposures: Informer<KubeObject>;
  readonly edges: Informer<KubeObject>;
  readonly book: ExposureBook;

  readonly #options: ManagementOptions;
  readonly #secrets: RecentReads;
  readonly #services: Informer<Service>;
  readonly #ownedSlices: Informer<KubeObject>;
  readonly #namespaces: Informer<KubeObject>;
  /** By apiVersion and kind: the {@link servedKinds}. */
  readonly #dynamic = new Map<string, Watched>();

  constructor(options: ManagementOptions) {
    this.#options = options;
    const { client, listener, freshMs } = options;
    this.client = client;
    this.#secrets = new RecentReads(client, freshMs, systemClock);
    this.exposures = new Informer({ client, resource: RESOURCES.exposure });
    this.edges = new Informer({ client, resource: RESOURCES.edge });
    this.#services = new Informer<Service>({
      client,
      resource: RESOURCES.service,
      trim: servicePart,
      indexes: { exposure: ownerIndex },
    });
    this.#ownedSlices = new Informer({
      client,
      resource: RESOURCES.endpointSlice,
      selection: { labelSelector: OWNED_SELECTOR },
      indexes: { exposure: ownerIndex },
    });
    this.#namespaces = new Informer({ client, resource: RESOURCES.namespace, trim: labelsOnly });
    this.book = new ExposureBook({
      exposures: () => this.exposures.list(),
      edges: () => this.edges.list(),
    });
    this.exposures.onChange((change) => {
      this.book.exposureChanged(change);
      listener.onExposure(change.object, previousOf(change));
    });
    this.edges.onChange((change) => {
      this.book.edgeChanged();
      listener.onEdge(change.object, previousOf(change));
    });
    this.#services.onChange(({ object }) => {
      listener.onService(object.metadata);
      const owner = ownerOf(object);
      if (owner !== undefined) listener.onOwned(owner);
    });
    this.#ownedSlices.onChange(({ object }) => {
      const owner = ownerOf(object);
      if (owner !== undefined) listener.onOwned(owner);
    });
    this.#namespaces.onChange(({ object }) => listener.onNamespace(object.metadata.name));
  }

  /** Begins to watch; done when everything is known, however long that takes. @throws the signal's reason */
  async open(signal: AbortSignal): Promise<void> {
    const fixed = [this.exposures, this.edges, this.#services, this.#ownedSlices, this.#namespaces];
    for (const informer of fixed) void informer.run(signal);
    await this.#discoverFirst(signal);
    void this.#keepDiscovering(signal);
    await Promise.all([
      ...fixed.map((informer) => informer.synced(signal)),
      ...[...this.#dynamic.values()].map(async (watched) => readOrRefused(watched, signal)),
    ]);
  }

  /** What keeps this from being known, as a sentence; nothing if all is read that every Exposure needs. */
  readFault(): string | undefined {
    return readFault(
      [
        { resource: RESOURCES.exposure, state: this.exposures.state },
        { resource: RESOURCES.edge, state: this.edges.state },
        { resource: RESOURCES.service, state: this.#services.state },
        { resource: RESOURCES.endpointSlice, state: this.#ownedSlices.state },
        { resource: RESOURCES.namespace, state: this.#namespaces.state },
      ],
      systemClock.nowMs(),
    );
  }

  /** Why objects of a kind that is served are not known; nothing if they are. */
  unread(resource: Resource): KubeError | undefined {
    const { hasSynced, lastError } = this.#dynamic.get(nameOf(resource))?.informer.state ?? {};
    return hasSynced === true ? undefined : lastError;
  }

  service(key: ObjectKey): Service | undefined {
    return this.#services.get(key);
  }

  async secret(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
    const found = await this.#secrets.get<Secret>(RESOURCES.secret, key, { signal });
    // Somebody is about to make it: that it is not there is never old news.
    if (found === undefined) this.#secrets.forget(RESOURCES.secret, key);
    return found;
  }

  /** As the server has it now. @throws KubeError */
  async secretNow(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
    this.#secrets.forget(RESOURCES.secret, key);
    return this.secret(key, signal);
  }

  async object(
    resource: Resource,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    if (!isProvided(resource)) return this.client.get(resource, key, { signal });
    const served = servedVersion(resource, this.served);
    const informer = served && this.#dynamic.get(nameOf(served))?.informer;
    if (served === undefined || informer?.hasSynced === true) return informer?.get(key);
    return this.client.get(served, key, { signal });
  }

  /** One of a provider's objects, as the watch has it, in whatever version it is served. */
  providedAt(resource: Resource, key: ObjectKey): KubeObject | undefined {
    const served = servedVersion(resource, this.served);
    return served && this.#dynamic.get(nameOf(served))?.informer.get(key);
  }

  /** All objects of a provider's kind. */
  provided(resource: Resource): readonly KubeObject[] {
    const served = servedVersion(resource, this.served);
    return served === undefined ? [] : this.all(served);
  }

  namespaceLabels(name: string): Readonly<Record<string, string>> {
    return this.#namespaces.get({ name })?.metadata.labels ?? {};
  }

  /** All objects of a kind; none if it is not served. */
  all(resource: Resource): readonly KubeObject[] {
    return this.#dynamic.get(nameOf(resource))?.informer.list() ?? [];
  }

  /** The route objects, whosever, that may claim one of these hosts. */
  claimants(hosts: readonly string[]): readonly KubeObject[] {
    const informers = [...this.#dynamic.values()].map(({ informer }) => informer);
    return claimantsOf(hosts, (key) => informers.flatMap((one) => one.byIndex('claim', key)));
  }

  /** What we made for an Exposure, of every kind: routes, and the Service of fixed endpoints with its slices. */
  ownedBy({ metadata }: KubeObject): readonly KubeObject[] {
    const value = keyText(metadata);
    const candidates = [
      ...this.#services.byIndex('exposure', value),
      ...this.#ownedSlices.byIndex('exposure', value),
      ...[...this.#dynamic.values()].flatMap(({ informer }) => informer.byIndex('exposure', value)),
    ];
    return candidates.filter((object) => isOwnedBy(object, metadata.uid));
  }

  /** A server that is busy, or about to come up, is asked again; the watches do the same. */
  async #discoverFirst(signal: AbortSignal): Promise<void> {
    for (let failures = 1; ; failures++) {
      try {
        await this.#discover(signal);
        return;
      } catch (error) {
        if (!isKubeError(error) || signal.aborted) throw error;
        this.#options.log.warn('which APIs are served is not known yet', { error });
        await delay(systemClock, backoffMs(failures, Math.random()), signal);
      }
    }
  }

  async #keepDiscovering(signal: AbortSignal): Promise<void> {
    const { discoveryMs = 30_000, listener, log } = this.#options;
    while (!signal.aborted) {
      await delay(systemClock, discoveryMs, signal);
      if (signal.aborted) return;
      try {
        if (await this.#discover(signal)) listener.onServed();
      } catch (error) {
        if (!isKubeError(error)) throw error;
        if (error.reason !== 'Aborted') log.warn('which APIs are served is not known', { error });
      }
    }
  }

  /** Starts a watch for every kind that is served now, and ends those of kinds that are gone. */
  async #discover(signal: AbortSignal): Promise<boolean> {
    const isChanged = await this.served.refresh(this.client, signal);
    const wanted = new Map(servedKinds(this.served).map((kind) => [nameOf(kind), kind]));
    for (const [name, { end }] of this.#dynamic) {
      if (wanted.has(name)) continue;
      end.abort();
      this.#dynamic.delete(name);
    }
    for (const [name, resource] of wanted) {
      if (!this.#dynamic.has(name)) this.#dynamic.set(name, this.#watch(resource, signal));
    }
    return isChanged;
  }

  #watch(resource: Resource, signal: AbortSignal): Watched {
    const { client, listener } = this.#options;
    const isRoute = ROUTE_RESOURCES.includes(resource);
    const informer = new Informer<KubeObject>({
      ...{ client, resource },
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
        listener.onEdgeSetting(change.object);
        return;
      }
      // Before as well as after: what it was, or whose, may be what somebody waits to see the end of.
      for (const object of [change.object, previousOf(change)]) {
        const owner = object && ownerOf(object);
        if (owner !== undefined) listener.onOwned(owner);
        // One that says it is of an Exposure may be in the way of another.
        if (object !== undefined) listener.onStranger(object);
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
async function readOrRefused({ resource, informer }: Watched, signal: AbortSignal): Promise<void> {
  const isRefused = ({ reason }: KubeError, failures: number) =>
    reason === 'Forbidden' || isProvided(resource) || failures >= PATIENCE_FAILURES;
  for (;;) {
    const { hasSynced, lastError, failures } = informer.state;
    if (hasSynced || (lastError !== undefined && isRefused(lastError, failures))) return;
    signal.throwIfAborted();
    await delay(systemClock, REFUSED_MS, signal);
  }
}

function previousOf<T extends KubeObject>(change: Change<T>): T | undefined {
  return change.type === 'MODIFIED' ? change.previous : undefined;
}

/** Whether a kind is a provider's, and watched. */
function isProvided(resource: Resource): boolean {
  return WATCHED_RESOURCES.some((kind) => isOfKind(kind, resource));
}

function nameOf({ apiVersion, kind }: Resource): string {
  return `${apiVersion} ${kind}`;
}
