/**
 * All Exposures and Edges, parsed once per version, with their hosts and the owners of these.
 */
import { labelsOfNamespace, type NamespaceLabels } from '../api/allowed-namespaces.ts';
import type { Edge } from '../api/edge.ts';
import type { Exposure } from '../api/exposure.ts';
import { TenantRouteIndex } from '../api/tenant-route-index.ts';
import type { TenantRoute } from '../api/tenant-route.ts';
import { hostsOf, isNotAllowed, type Hosts } from '../api/hosts.ts';
import { deletionFault } from '../api/edge-deletion.ts';
import { parseExposure } from '../api/objects.ts';
import type { Change } from '../kube/informer/cache.ts';
import { keyText, type KubeObject } from '../kube/object.ts';
import {
  claimedHosts,
  hostConflict,
  type HostClaim,
  type HostConflict,
} from '../plan/conflicts.ts';
import type { Finding } from '../api/finding.ts';
import { severalDefaultEdges } from '../plan/default-edge.ts';
import { HostClaims } from '../plan/host-claims.ts';
import type { DesiredExposure } from '../plan/plan.ts';
import { PreparedObjects } from './prepared-objects.ts';
import { annotatedObject } from './edge-findings.ts';
import { DEFAULT_EDGE, EdgeIndex, isSameEdge } from './edge-index.ts';
import { ParsedObjects, type Found } from './found.ts';

/** Where the objects come from. */
interface ExposureIndexSources {
  readonly exposures: () => readonly KubeObject[];
  /** One of these, by its key `namespace/name`. Default: none is looked up, since nothing changes. */
  readonly exposure?: ((key: string) => KubeObject | undefined) | undefined;
  readonly edges: () => readonly KubeObject[];
  /** Default: there are none. */
  readonly tenantRoutes?: TenantRouteIndex<TenantRoute> | undefined;
  /** The labels of a namespace. Default: its name alone. */
  readonly namespaceLabels?: ((name: string) => NamespaceLabels) | undefined;
  /** Files with an Edge that cannot be used, where there are files in place of a cluster. Default: none. */
  readonly unusableFiles?: (() => readonly string[]) | undefined;
}

/** An Exposure with its Edge, its hosts and their conflicts. */
export interface ResolvedExposure extends DesiredExposure {
  readonly hosts: Hosts | Finding;
  /** A host of it belongs to another Exposure. */
  readonly conflict?: HostConflict | undefined;
  /** A warning for the user: the Exposure is valid. */
  readonly warning?: Finding | undefined;
}

/** The Exposures that a change concerns. */
export interface AffectedExposures {
  /** Their keys. */
  readonly keys: Iterable<string>;
  /** The hosts that they no longer claim, or claim now. Other Exposures may claim them too. */
  readonly hosts: readonly string[];
}

/** The Exposures that a change of an Edge concerns. */
export interface AffectedByEdge extends AffectedExposures {
  /** The names in `spec.edgeRef` that it concerns, empty for the default Edge. */
  readonly edgeRefs: readonly string[];
}

/** One takes 0.1 ms, and several times that before the engine has compiled the code. */
const PARSED_PER_TURN = 50;

/** Exposures, Edges and hosts. */
export class ExposureIndex {
  readonly edges: EdgeIndex;
  readonly #sources: ExposureIndexSources;
  readonly #exposures = new ParsedObjects(exposureOf);
  /** Absent until it is needed. */
  #claims: HostClaims | undefined;
  /** Absent until it is needed. */
  #prepared: PreparedObjects | undefined;
  readonly #tenantRoutes: TenantRouteIndex<TenantRoute>;
  /** Hosts whose first TenantRoutes are being written, with the key of the Exposure that they are for. */
  readonly #reservations = new Map<string, string>();

  constructor(sources: ExposureIndexSources) {
    this.#sources = sources;
    this.#tenantRoutes = sources.tenantRoutes ?? new TenantRouteIndex();
    const { edges, unusableFiles } = sources;
    this.edges = new EdgeIndex({ edges, unusableFiles, tenantRoutes: this.#tenantRoutes });
    this.#tenantRoutes.onChange((key) => this.#reclaim(key));
  }

  /**
   * Parses all Exposures, some in each turn of the event loop. Without it the first use parses them at once, which blocks the
   * event loop for a second with 10,000 Exposures.
   */
  async parseAll(): Promise<void> {
    for (const [index, object] of this.#sources.exposures().entries()) {
      this.exposureIn(object);
      if (index % PARSED_PER_TURN === PARSED_PER_TURN - 1) await new Promise(setImmediate);
    }
  }

  /** To be called for every change of an Edge. Returns what it concerns; nothing if only the status has changed. */
  edgeChanged(change: Change<KubeObject>): AffectedByEdge {
    if (change.type === 'MODIFIED' && isSameEdge(change.object, change.previous)) {
      return { keys: [], hosts: [], edgeRefs: [] };
    }
    const { name } = change.object.metadata;
    const claims = this.#claims;
    if (claims === undefined) {
      const keys = this.#sources.exposures().map(({ metadata }) => keyText(metadata));
      return { keys, hosts: [], edgeRefs: [name, DEFAULT_EDGE] };
    }
    const edgeRefs = this.edges.affectedRefs(change, claims.edgeRefs());
    const users = [...claims.usersOf(name)];
    const keys = new Set([
      ...users,
      ...edgeRefs.flatMap((edgeRef) => [...claims.referencing(edgeRef)]),
    ]);
    return { keys, hosts: this.#reclaimAll(keys, claims), edgeRefs };
  }

  /** To be called for every change of an Exposure. */
  exposureChanged(change: Change<KubeObject>): void {
    const { type, object } = change;
    if (type === 'DELETED') {
      this.#claims?.remove(keyText(object.metadata));
      this.#prepared?.remove(keyText(object.metadata));
      return;
    }
    this.#prepared?.put(object);
    if (type === 'MODIFIED') this.#carryOver(change.previous, object);
    this.#claims?.put(this.#claimOf(object));
  }

  /** The Exposure in an object with its Edge, or why it cannot be resolved. */
  resolve(object: KubeObject): Found<ResolvedExposure> {
    const { value: exposure, finding } = this.exposureIn(object);
    if (exposure === undefined) return { finding };
    const annotated = annotatedObject(object);
    const { value: edge, finding: noEdge } = this.edges.edgeOf({ ...exposure, annotated });
    if (edge === undefined) return { finding: noEdge };
    const hosts = this.#hostsOf(exposure, edge);
    const conflict =
      'code' in hosts ? undefined : hostConflict({ exposure, hosts }, this.#currentClaims());
    const warning =
      exposure.spec.edgeRef === undefined ? severalDefaultEdges(this.#sources.edges()) : undefined;
    return { value: { exposure, edge, hosts, conflict, warning } };
  }

  /**
   * To be called for every change of a namespace: by its labels, an Edge may allow other Exposures, which then claim
   * their hosts. Returns what it concerns.
   */
  namespaceChanged(name: string): AffectedExposures {
    if (this.#claims === undefined || !this.edges.selectsNamespaces())
      return { keys: [], hosts: [] };
    const keys = [...this.#claims.inNamespace(name)];
    return { keys, hosts: this.#reclaimAll(keys, this.#claims) };
  }

  /** The Exposure in an object, or why it cannot be parsed. */
  exposureIn(object: KubeObject): Found<Exposure> {
    return this.#exposures.of(object);
  }

  /** Whether there is an Exposure of this key, `namespace/name`. */
  has(key: string): boolean {
    return this.#currentClaims().has(key);
  }

  /** Whether a host belongs to another Exposure than the one of this key. */
  isOwnedByAnother(host: string, key: string): boolean {
    const owner = this.#currentClaims().ownerOf(host);
    return owner !== undefined && owner.key !== key;
  }

  /**
   * Reserves hosts for the Exposure of this key until {@link release}: it owns them although they have no TenantRoute yet.
   * False if one of them belongs to another Exposure; then none is reserved.
   */
  reserve(hosts: readonly string[], key: string): boolean {
    if (hosts.some((host) => this.isOwnedByAnother(host, key))) return false;
    for (const host of hosts) this.#reservations.set(host, key);
    return true;
  }

  /** Ends the reservation of hosts for the Exposure of this key. */
  release(hosts: readonly string[], key: string): void {
    for (const host of hosts) {
      if (this.#reservations.get(host) === key) this.#reservations.delete(host);
    }
  }

  /** The keys of the Exposures that claim a host. */
  claimantsOf(host: string): Iterable<string> {
    return this.#currentClaims().claimantsOf(host);
  }

  /** All hosts that Exposures claim. */
  claimedHosts(): Iterable<string> {
    return this.#currentClaims().hosts();
  }

  /** The keys of the Exposures that use an Edge. */
  usersOf(edge: string): ReadonlySet<string> {
    return this.#currentClaims().usersOf(edge);
  }

  /** The key of an Exposure other than `except` that has a record of the provider's object with this uid. */
  preparedBy(uid: string, except: string): string | undefined {
    if (this.#prepared === undefined) {
      const prepared = new PreparedObjects();
      for (const object of this.#sources.exposures()) prepared.put(object);
      this.#prepared = prepared;
    }
    return this.#prepared.ownerOf(uid, except);
  }

  /** Most changes are status writes of the operator. The parsed spec, which is expensive, stays the same. */
  #carryOver(previous: KubeObject, object: KubeObject): void {
    const value = this.#exposures.known(previous);
    const { generation } = object.metadata;
    if (value === undefined || generation === undefined) return;
    if (generation !== previous.metadata.generation) return;
    this.#exposures.set(object, { ...value, metadata: (object as Exposure).metadata });
  }

  /** Updates the claims of an Exposure, after a change of what they depend on. */
  #reclaim(key: string): void {
    if (this.#claims?.has(key) !== true) return;
    const object = this.#sources.exposure?.(key);
    if (object !== undefined) this.#claims.put(this.#claimOf(object));
  }

  /** Updates the claims of these Exposures. Returns the hosts that they no longer claim, or claim now. */
  #reclaimAll(keys: Iterable<string>, claims: HostClaims): readonly string[] {
    const changed = new Set<string>();
    for (const key of keys) {
      const before = new Set(claims.hostsOf(key));
      this.#reclaim(key);
      const after = new Set(claims.hostsOf(key));
      for (const host of before.symmetricDifference(after)) changed.add(host);
    }
    return [...changed];
  }

  #currentClaims(): HostClaims {
    if (this.#claims === undefined) {
      this.#claims = new HostClaims(this.#tenantRoutes, this.#reservations);
      for (const object of this.#sources.exposures()) this.#claims.put(this.#claimOf(object));
    }
    return this.#claims;
  }

  /** The hosts that the spec of an Exposure claims. */
  hostsClaimedBy(object: KubeObject): readonly string[] {
    return claimedHosts(this.#claimOf(object));
  }

  #hostsOf(exposure: Exposure, edge: Edge): Hosts | Finding {
    const { namespace } = exposure.metadata;
    const labels = this.#sources.namespaceLabels?.(namespace) ?? labelsOfNamespace(namespace);
    const routes = this.#tenantRoutes.ofExposure(keyText(exposure.metadata));
    return deletionFault(exposure, edge, routes) ?? hostsOf(exposure, edge, labels);
  }

  /** An invalid Exposure claims nothing, but owns the hosts of its TenantRoutes. */
  #claimOf(object: KubeObject): HostClaim {
    const { value: exposure } = this.exposureIn(object);
    if (exposure === undefined) return { exposure: object as Exposure };
    const edgeRef = exposure.spec.edgeRef?.name ?? DEFAULT_EDGE;
    const { value: edge } = this.edges.edgeOf(exposure);
    const hosts = edge && this.#hostsOf(exposure, edge);
    if (hosts === undefined || !('code' in hosts)) {
      return { exposure, edgeRef, hosts, edge: edge?.metadata.name };
    }
    return { exposure, edgeRef, edge: isNotAllowed(hosts) ? undefined : edge?.metadata.name };
  }
}

/** The status decides nothing, and to parse it took most of the time: 0.44 of 0.47 ms. */
function exposureOf(object: KubeObject): Exposure {
  const { status: _, metadata, ...others } = object as Exposure;
  return { ...parseExposure({ ...others, metadata }), metadata };
}
