/**
 * A management cluster that is read once, from the API or from files, for commands that preview what the operator would do.
 */
import { TenantRouteIndex } from '../api/tenant-route-index.ts';
import type { TenantRoute } from '../api/tenant-route.ts';
import { labelsOfNamespace } from '../api/allowed-namespaces.ts';
import { claimantsOf, claimKeys } from '../edges/claims/claim-keys.ts';
import { ROUTE_RESOURCES } from '../edges/driver-for.ts';
import type { DiscoveredApis } from '../edges/driver.ts';
import type { KubeClient, Selection } from '../kube/client/client.ts';
import { keyText, type KubeObject, type ObjectKey } from '../kube/object.ts';
import { RESOURCES, type Resource } from '../kube/resource.ts';
import type { Secret, Service } from '../providers/plain.ts';
import { isOfKind } from '../providers/provider-resources.ts';
import { ExposureIndex } from './exposure-index.ts';
import { IDENTITY_NAMESPACE, type ManagementView } from './management-view.ts';
import { isOwnedBy, ownerIndex, OWNED_SELECTOR } from './owned.ts';
import { discoveredKinds, ApiDiscovery } from './api-discovery.ts';

/** A snapshot of a management cluster. */
export class ManagementSnapshot implements ManagementView {
  readonly client: Pick<KubeClient, 'get'>;
  readonly served: DiscoveredApis;
  readonly exposureIndex: ExposureIndex;
  readonly exposures: readonly KubeObject[];
  readonly tenantRoutes: TenantRouteIndex<TenantRoute>;

  readonly #byKind: ReadonlyMap<string, readonly KubeObject[]>;
  /** By kind, then by key. Each kind is indexed when the first of its objects is looked up. */
  readonly #byKey = new Map<string, ReadonlyMap<string, KubeObject>>();
  /** Snicket's objects other than TenantRoutes, by the key of their Exposure. Computed on demand. */
  #owned: ReadonlyMap<string, readonly KubeObject[]> | undefined;
  /** Route objects by their claims. Computed on demand. */
  #claims: ReadonlyMap<string, readonly KubeObject[]> | undefined;

  /**
   * @param objects - All objects of every kind that is read.
   * @param unusableFiles - Invalid files that may contain an Edge. Default: none.
   */
  constructor(
    objects: readonly KubeObject[],
    served: DiscoveredApis,
    client: Pick<KubeClient, 'get'> = { get: async () => Promise.resolve(undefined) },
    unusableFiles: readonly string[] = [],
  ) {
    this.client = client;
    this.served = served;
    this.#byKind = Map.groupBy(objects, nameOf);
    this.exposures = this.all(RESOURCES.exposure);
    this.tenantRoutes = new TenantRouteIndex(
      this.all(RESOURCES.tenantRoute) as readonly TenantRoute[],
    );
    this.exposureIndex = new ExposureIndex({
      tenantRoutes: this.tenantRoutes,
      exposures: () => this.exposures,
      edges: () => this.all(RESOURCES.edge),
      namespaceLabels: (name) => this.namespaceLabels(name),
      unusableFiles: () => unusableFiles,
    });
  }

  /** Reads a cluster, with GET requests only. @throws KubeError */
  static async read(client: KubeClient, signal: AbortSignal): Promise<ManagementSnapshot> {
    const served = new ApiDiscovery();
    const listed = async (resource: Resource, selection: Selection = {}) =>
      (await client.list(resource, { ...selection, signal })).items;
    // Exposures first: if the CRDs are missing, that is the error to report.
    const exposures = await listed(RESOURCES.exposure);
    await served.refresh(client, signal);
    const others = await Promise.all([
      listed(RESOURCES.edge),
      listed(RESOURCES.tenantRoute),
      listed(RESOURCES.service),
      listed(RESOURCES.endpointSlice, { labelSelector: OWNED_SELECTOR }),
      listed(RESOURCES.namespace),
      ...discoveredKinds(served).map(async (resource) => listed(resource)),
    ]);
    return new ManagementSnapshot([exposures, ...others].flat(), served, client);
  }

  /** Returns the same cluster with these objects instead of all objects of their kinds. */
  with(objects: readonly KubeObject[]): ManagementSnapshot {
    const kinds = new Set(objects.map(nameOf));
    const others = [...this.#byKind].flatMap(([kind, all]) => (kinds.has(kind) ? [] : all));
    return new ManagementSnapshot([...others, ...objects], this.served, this.client);
  }

  service(key: ObjectKey): Service | undefined {
    return this.#find(RESOURCES.service, key);
  }

  async secret(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
    return this.client.get(RESOURCES.secret, key, { signal });
  }

  async currentSecret(key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
    return this.secret(key, signal);
  }

  /** An incomplete read of the cluster throws, so every snapshot has all objects. */
  readErrorOf(): undefined {
    return undefined;
  }

  async object(
    resource: Resource,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const kinds = [...this.#byKind].flatMap(([kind, [first]]) =>
      first !== undefined && isOfKind(resource, first) ? kind : [],
    );
    if (kinds.length === 0) return this.client.get(resource, key, { signal });
    return kinds.map((kind) => this.#keyed(kind).get(keyText(key))).find(Boolean);
  }

  get clusterId(): string | undefined {
    return this.#find(RESOURCES.namespace, IDENTITY_NAMESPACE)?.metadata.uid;
  }

  namespaceLabels(name: string): Readonly<Record<string, string>> {
    return labelsOfNamespace(name, this.#find(RESOURCES.namespace, { name })?.metadata.labels);
  }

  all(resource: Resource): readonly KubeObject[] {
    return this.#byKind.get(nameOf(resource)) ?? [];
  }

  claimants(hosts: readonly string[]): readonly KubeObject[] {
    this.#claims ??= this.#claimsByKey();
    const claims = this.#claims;
    return claimantsOf(hosts, (key) => claims.get(key) ?? []);
  }

  #claimsByKey(): ReadonlyMap<string, readonly KubeObject[]> {
    const claims = new Map<string, KubeObject[]>();
    for (const object of ROUTE_RESOURCES.flatMap((resource) => this.all(resource))) {
      for (const key of claimKeys(object)) {
        const others = claims.get(key);
        if (others === undefined) claims.set(key, [object]);
        else others.push(object);
      }
    }
    return claims;
  }

  ownedBy({ metadata }: KubeObject): readonly KubeObject[] {
    const { uid } = metadata;
    // An Exposure that does not exist yet owns no objects.
    if (uid === undefined) return [];
    const key = keyText(metadata);
    this.#owned ??= this.#ownedByKey();
    const others = (this.#owned.get(key) ?? []).filter((object) => isOwnedBy(object, uid));
    return [...this.tenantRoutes.ofExposure(key), ...others];
  }

  #ownedByKey(): ReadonlyMap<string, readonly KubeObject[]> {
    const kinds = [RESOURCES.service, RESOURCES.endpointSlice, ...ROUTE_RESOURCES];
    const owned = kinds
      .flatMap((resource) => this.all(resource))
      .flatMap((object) => ownerIndex(object).map((key) => ({ key, object })));
    const byKey = Map.groupBy(owned, ({ key }) => key);
    return new Map([...byKey].map(([key, all]) => [key, all.map(({ object }) => object)]));
  }

  #find(resource: Resource, key: ObjectKey): KubeObject | undefined {
    return this.#keyed(nameOf(resource)).get(keyText(key));
  }

  #keyed(kind: string): ReadonlyMap<string, KubeObject> {
    return this.#byKey.getOrInsertComputed(kind, () => {
      const objects = this.#byKind.get(kind) ?? [];
      // If several objects have the same key, the first one is used.
      return new Map(objects.toReversed().map((object) => [keyText(object.metadata), object]));
    });
  }
}

function nameOf({ apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>): string {
  return `${apiVersion} ${kind}`;
}
