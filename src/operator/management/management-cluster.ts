/**
 * The management cluster as the operator sees it: a copy of every kind that it looks at, kept up to date, and who has
 * to be looked at again when something changes.
 */
import { systemClock } from '../../engine/clock.ts';
import { backoffMs, delay } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client.ts';
import { Informer } from '../../kube/informer.ts';
import type { Change } from '../../kube/informer-cache.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import { RecentReads } from '../../kube/recent-reads.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import type { Secret, Service } from '../../providers/plain.ts';
import type { Logger } from '../../telemetry/log.ts';
import { ExposureBook } from './exposure-book.ts';
import { claimantsOf, claimKeys } from '../../edges/claims/claim-keys.ts';
import { ROUTE_RESOURCES } from '../../edges/driver-for.ts';
import { gatewayPart, labelsOnly, servicePart } from './kept-parts.ts';
import type { ManagementView } from './management-view.ts';
import { isOwnedBy, OWNED_SELECTOR, ownerIndex, ownerOf } from './owned.ts';
import { EDGE_RESOURCES, ServedBook } from './served-apis.ts';

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
  /** By apiVersion and kind: those of {@link ROUTE_RESOURCES} and {@link EDGE_RESOURCES} that are served. */
  readonly #dynamic = new Map<string, { informer: Informer<KubeObject>; end: AbortController }>();

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
      ...[...this.#dynamic.values()].map(({ informer }) => informer.synced(signal)),
    ]);
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
    for (const resource of [...ROUTE_RESOURCES, ...EDGE_RESOURCES]) {
      const name = nameOf(resource);
      const current = this.#dynamic.get(name);
      if (this.served.has(resource) && current === undefined) {
        this.#dynamic.set(name, this.#watch(resource, signal));
      } else if (!this.served.has(resource) && current !== undefined) {
        current.end.abort();
        this.#dynamic.delete(name);
      }
    }
    return isChanged;
  }

  #watch(
    resource: Resource,
    signal: AbortSignal,
  ): { informer: Informer<KubeObject>; end: AbortController } {
    const { client, listener } = this.#options;
    const isRoute = ROUTE_RESOURCES.includes(resource);
    const informer = new Informer<KubeObject>({
      ...{ client, resource },
      ...(resource === RESOURCES.gateway && { trim: gatewayPart }),
      indexes: {
        exposure: ownerIndex,
        // Every Exposure asks who else claims its hosts: of a thousand routes none but its own, most of the time.
        claim: isRoute ? claimKeys : () => [],
      },
    });
    informer.onChange((change) => {
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
    return { informer, end };
  }
}

function previousOf<T extends KubeObject>(change: Change<T>): T | undefined {
  return change.type === 'MODIFIED' ? change.previous : undefined;
}

function nameOf({ apiVersion, kind }: Resource): string {
  return `${apiVersion} ${kind}`;
}
