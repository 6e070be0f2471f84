/**
 * The management cluster as the operator watches it: an informer for every kind, and a listener for changes.
 */
import { TenantRouteIndex } from '../../api/tenant-route-index.ts';
import type { TenantRoute } from '../../api/tenant-route.ts';
import { labelsOfNamespace } from '../../api/allowed-namespaces.ts';
import type { Clock } from '../../clock/clock.ts';
import { backoffMs, delay } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { Informer, type InformerOptions } from '../../kube/informer/informer.ts';
import { InformerCounters } from '../../kube/informer/relist.ts';
import { isKubeError, type KubeError } from '../../kube/kube-error.ts';
import { keyText, parseKey, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import { RecentReads } from '../../kube/client/recent-reads.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import type { Secret, Service } from '../../providers/plain.ts';
import { servedVersion, WATCHED_RESOURCES } from '../../providers/provider-resources.ts';
import type { Logger } from '../../telemetry/log.ts';
import { ExposureIndex } from '../../management/exposure-index.ts';
import { claimantsOf } from '../../edges/claims/claim-keys.ts';
import { trimNamespace, trimService } from './trim-objects.ts';
import type { ManagementListener } from './management-listener.ts';
import { IDENTITY_NAMESPACE, type ManagementView } from '../../management/management-view.ts';
import { isOwnedBy, OWNED_SELECTOR, ownerIndex, ownerOf } from '../../management/owned.ts';
import { readFault } from './read-faults.ts';
import {
  discoveredKinds,
  ApiDiscovery,
  type DiscoveryResult,
} from '../../management/api-discovery.ts';
import { isProvided, previousOf, DynamicWatches } from './dynamic-watches.ts';

interface ManagementOptions {
  readonly client: KubeClient;
  readonly log: Logger;
  /** How long a Secret is reused after it was read. */
  readonly freshMs: number;
  /** Files with an Edge that cannot be used. Default: there are no files. */
  readonly unusableFiles?: (() => readonly string[]) | undefined;
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
}

/** The interval of API discovery. */
const DISCOVERY_MS = 30_000;

/** The watched management cluster. */
export class ManagementCluster implements ManagementView {
  readonly client: KubeClient;
  readonly served = new ApiDiscovery();
  readonly exposures: Informer<KubeObject>;
  readonly edges: Informer<KubeObject>;
  readonly exposureIndex: ExposureIndex;
  /** Of all informers. */
  readonly counters = new InformerCounters();
  /** With the operator's own writes at once: the watch reports them later. */
  readonly tenantRoutes = new TenantRouteIndex<TenantRoute>();

  readonly #options: ManagementOptions;
  readonly #secrets: RecentReads;
  readonly #services: Informer<Service>;
  readonly #ownedSlices: Informer<KubeObject>;
  readonly #namespaces: Informer<KubeObject>;
  readonly #tenantRoutes: Informer<TenantRoute>;
  /** The informers of all kinds that every Exposure needs. */
  readonly #required: readonly Pick<
    Informer<KubeObject>,
    'resource' | 'state' | 'run' | 'synced'
  >[];
  /** The watches of the {@link discoveredKinds}. */
  readonly #watches: DynamicWatches;

  constructor(options: ManagementOptions) {
    this.#options = options;
    const { client, freshMs, clock, random } = options;
    this.client = client;
    const { counters } = this;
    const informer = <T extends KubeObject>(
      resource: Resource,
      more: Pick<InformerOptions<T>, 'selection' | 'trim' | 'indexes'> = {},
    ) => new Informer<T>({ client, clock, random, counters, resource, ...more });
    const indexes = { exposure: ownerIndex };
    const selection = { labelSelector: OWNED_SELECTOR };
    this.#secrets = new RecentReads(client, freshMs, clock);
    this.exposures = informer(RESOURCES.exposure);
    this.edges = informer(RESOURCES.edge);
    this.#services = informer<Service>(RESOURCES.service, { trim: trimService, indexes });
    this.#ownedSlices = informer(RESOURCES.endpointSlice, { selection, indexes });
    this.#namespaces = informer(RESOURCES.namespace, { trim: trimNamespace });
    this.#tenantRoutes = informer<TenantRoute>(RESOURCES.tenantRoute);
    this.#required = [
      this.exposures,
      this.edges,
      this.#tenantRoutes,
      this.#services,
      this.#ownedSlices,
      this.#namespaces,
    ];
    this.#watches = new DynamicWatches({ client, clock, random, counters });
    this.exposureIndex = new ExposureIndex({
      exposures: () => this.exposures.list(),
      exposure: (key) => this.exposures.get(parseKey(key)),
      edges: () => this.edges.list(),
      tenantRoutes: this.tenantRoutes,
      namespaceLabels: (name) => this.namespaceLabels(name),
      unusableFiles: options.unusableFiles,
    });
  }

  /**
   * Starts the watches and waits, without a limit, until all of them are synced. The listener receives all changes.
   * @throws the signal's reason
   */
  async open(listener: ManagementListener, signal: AbortSignal): Promise<void> {
    this.#notify(listener);
    for (const informer of this.#required) void informer.run(signal);
    await this.#discoverFirst(listener, signal);
    void this.#keepDiscovering(listener, signal);
    await Promise.all([
      ...this.#required.map((informer) => informer.synced(signal)),
      this.#watches.read(signal),
    ]);
    await this.exposureIndex.parseAll();
  }

  /** Updates the indexes with every change, and then notifies the listener. */
  #notify(listener: ManagementListener): void {
    this.exposures.onChange((change) => {
      this.exposureIndex.exposureChanged(change);
      listener.onExposure(change.object, previousOf(change));
    });
    this.edges.onChange((change) => {
      const affected = this.exposureIndex.edgeChanged(change);
      listener.onEdge(change.object, previousOf(change), affected);
    });
    this.#services.onChange(({ object }) => {
      listener.onService(object.metadata);
      const owner = ownerOf(object);
      if (owner !== undefined) listener.onOwnedObject(owner);
    });
    this.#ownedSlices.onChange(({ object }) => {
      const owner = ownerOf(object);
      if (owner !== undefined) listener.onOwnedObject(owner);
    });
    this.#tenantRoutes.onList(() => {
      const complete = this.tenantRoutes.beginList();
      return () => {
        const isListed = (key: ObjectKey) => this.#tenantRoutes.get(key) !== undefined;
        for (const gone of complete(isListed)) listener.onTenantRoute(gone);
      };
    });
    this.#tenantRoutes.onChange((change) => {
      const { type, object } = change;
      const isChanged =
        type === 'DELETED' ? this.tenantRoutes.remove(object) : this.tenantRoutes.put(object);
      if (!isChanged) return;
      listener.onTenantRoute(object);
      // The host or the Exposure that it had before is released.
      const previous = previousOf(change);
      if (previous !== undefined && !isSameClaim(previous, object))
        listener.onTenantRoute(previous);
    });
    this.#namespaces.onChange(({ object: { metadata } }) => {
      listener.onNamespace(metadata.name, this.exposureIndex.namespaceChanged(metadata.name));
    });
  }

  /** Why a kind that every Exposure needs cannot be read, as a sentence; undefined if all are read. */
  readFault(): string | undefined {
    return readFault(this.#required, this.#options.clock.nowMs());
  }

  /** Why the objects of a served kind are unknown; undefined if they are known. */
  readErrorOf(resource: Resource): KubeError | undefined {
    return this.#watches.readErrorOf(resource);
  }

  service(key: ObjectKey): Service | undefined {
    return this.#services.get(key);
  }

  async secret(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
    // The name comes from a user's object. No Secret can have these names.
    if (key.name === '.' || key.name === '..') return undefined;
    const found = await this.#secrets.get<Secret>(RESOURCES.secret, key, { signal });
    // Its provider may be about to create it, so its absence is not cached.
    if (found === undefined) this.#secrets.forget(RESOURCES.secret, key);
    return found;
  }

  /** Reads the Secret from the API server, past the cache. @throws KubeError */
  async currentSecret(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
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
    const informer = served && this.#watches.of(served);
    if (served === undefined || informer?.hasSynced === true) return informer?.get(key);
    return this.client.get(served, key, { signal });
  }

  /** Returns an object of a provider from the watch of its served version. */
  providerObject(resource: Resource, key: ObjectKey): KubeObject | undefined {
    const served = servedVersion(resource, this.served);
    return served && this.#watches.of(served)?.get(key);
  }

  /** Returns all objects of a provider's kind. */
  providerObjects(resource: Resource): readonly KubeObject[] {
    const served = servedVersion(resource, this.served);
    return served === undefined ? [] : this.all(served);
  }

  /** Returns the provider objects whose annotation requests an Exposure on this Edge. An empty name is the default Edge. */
  objectsRequesting(edge: string): readonly KubeObject[] {
    return WATCHED_RESOURCES.flatMap((resource) => {
      const served = servedVersion(resource, this.served);
      return (served && this.#watches.of(served)?.byIndex('edge', edge)) ?? [];
    });
  }

  get clusterId(): string | undefined {
    return this.#namespaces.get(IDENTITY_NAMESPACE)?.metadata.uid;
  }

  namespaceLabels(name: string): Readonly<Record<string, string>> {
    return labelsOfNamespace(name, this.#namespaces.get({ name })?.metadata.labels);
  }

  /** Returns all objects of a kind; none if it is not served. */
  all(resource: Resource): readonly KubeObject[] {
    return this.#watches.of(resource)?.list() ?? [];
  }

  /** Returns all route objects, including foreign routes, that may claim one of these hosts. */
  claimants(hosts: readonly string[]): readonly KubeObject[] {
    const informers = this.#watches.all();
    return claimantsOf(hosts, (key) =>
      informers.flatMap((informer) => informer.byIndex('claim', key)),
    );
  }

  /** Returns all objects that were created for an Exposure: routes, and the Service for fixed endpoints with its slices. */
  ownedBy({ metadata }: KubeObject): readonly KubeObject[] {
    const value = keyText(metadata);
    const candidates = [
      ...this.#services.byIndex('exposure', value),
      ...this.#ownedSlices.byIndex('exposure', value),
      ...this.#watches.all().flatMap((informer) => informer.byIndex('exposure', value)),
    ];
    return [
      ...this.tenantRoutes.ofExposure(value),
      ...candidates.filter((object) => isOwnedBy(object, metadata.uid)),
    ];
  }

  /** Retries until discovery is complete. @throws the signal's reason */
  async #discoverFirst(listener: ManagementListener, signal: AbortSignal): Promise<void> {
    for (let failures = 1; ; failures++) {
      try {
        await this.#discover(listener, signal);
        return;
      } catch (error) {
        if (!isKubeError(error) || signal.aborted) throw error;
        this.#options.log.warn('API discovery failed, retrying', { error });
        await delay(this.#options.clock, backoffMs(failures, this.#options.random()), signal);
      }
    }
  }

  async #keepDiscovering(listener: ManagementListener, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    while (!signal.aborted) {
      await delay(this.#options.clock, DISCOVERY_MS, signal);
      if (signal.aborted) return;
      try {
        const { isChanged, error } = await this.#discover(listener, signal);
        if (isChanged) listener.onDiscoveryChange();
        if (error !== undefined && error.reason !== 'Aborted') {
          log.warn('API discovery incomplete, keeping the previous result', { error });
        }
      } catch (error) {
        if (!isKubeError(error)) throw error;
        if (error.reason !== 'Aborted')
          log.warn('API discovery failed, keeping the previous result', { error });
      }
    }
  }

  /** Starts watches for kinds that have appeared, and stops those of kinds that have disappeared. */
  async #discover(listener: ManagementListener, signal: AbortSignal): Promise<DiscoveryResult> {
    const result = await this.served.refresh(this.client, signal);
    this.#watches.follow(discoveredKinds(this.served), listener, signal);
    return result;
  }
}

/** Reports whether two versions of a TenantRoute have the same host and Exposure. */
function isSameClaim({ spec: route }: TenantRoute, { spec: other }: TenantRoute): boolean {
  return route.host === other.host && route.exposureRef.name === other.exposureRef.name;
}
