/** An index of all Exposures and Edges, parsed once per version, with their hosts and the owners of the hosts. */
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

/** The sources of the objects. */
interface ExposureIndexSources {
  readonly exposures: () => readonly KubeObject[];
  /** Returns an Exposure by its key `namespace/name`. Not required for a snapshot, which does not change. */
  readonly exposure?: ((key: string) => KubeObject | undefined) | undefined;
  readonly edges: () => readonly KubeObject[];
  /** Default: there are none. */
  readonly tenantRoutes?: TenantRouteIndex<TenantRoute> | undefined;
  /** The labels of a namespace. Default: its name alone. */
  readonly namespaceLabels?: ((name: string) => NamespaceLabels) | undefined;
  /** Invalid files that may contain an Edge, if files replace the cluster. Default: none. */
  readonly unusableFiles?: (() => readonly string[]) | undefined;
}

/** An Exposure with its Edge, its hosts and their conflicts. */
export interface ResolvedExposure extends DesiredExposure {
  readonly hosts: Hosts | Finding;
  /** Set if one of its hosts belongs to another Exposure. */
  readonly conflict?: HostConflict | undefined;
  /** A warning for the user: the Exposure is valid. */
  readonly warning?: Finding | undefined;
}

/** The Exposures that a change affects. */
export interface AffectedExposures {
  /** Their keys. */
  readonly keys: Iterable<string>;
  /** The hosts that they have stopped or started to claim. Other Exposures may claim them too. */
  readonly hosts: readonly string[];
}

/** The Exposures that a change of an Edge affects. */
export interface AffectedByEdge extends AffectedExposures {
  /** The affected names in `spec.edgeRef`; the empty name is the default Edge. */
  readonly edgeRefs: readonly string[];
}

/**
 * The number of Exposures to parse per turn. Parsing one takes 0.1 ms, and several times that before the code is
 * JIT-compiled.
 */
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

  /**
   * Must be called for every change of an Edge. Returns what the change affects; nothing if only the status has
   * changed.
   */
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

  /** Must be called for every change of an Exposure. */
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

  /** Returns the Exposure in an object with its Edge, or why it cannot be resolved. */
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
   * Must be called for every change of a namespace. With other labels, an Edge may allow other Exposures, which then
   * claim their hosts. Returns what the change affects.
   */
  namespaceChanged(name: string): AffectedExposures {
    if (this.#claims === undefined || !this.edges.selectsNamespaces())
      return { keys: [], hosts: [] };
    const keys = [...this.#claims.inNamespace(name)];
    return { keys, hosts: this.#reclaimAll(keys, this.#claims) };
  }

  /** Returns the Exposure in an object, or why it cannot be parsed. */
  exposureIn(object: KubeObject): Found<Exposure> {
    return this.#exposures.of(object);
  }

  /** Reports whether there is an Exposure with this key, `namespace/name`. */
  has(key: string): boolean {
    return this.#currentClaims().has(key);
  }

  /** Reports whether a host belongs to an Exposure other than the one with this key. */
  isOwnedByAnother(host: string, key: string): boolean {
    const owner = this.#currentClaims().ownerOf(host);
    return owner !== undefined && owner.key !== key;
  }

  /**
   * Reserves hosts for the Exposure with this key until {@link release}: it owns them even before they have a
   * TenantRoute. Returns false and reserves nothing if one of them belongs to another Exposure.
   */
  reserve(hosts: readonly string[], key: string): boolean {
    if (hosts.some((host) => this.isOwnedByAnother(host, key))) return false;
    for (const host of hosts) this.#reservations.set(host, key);
    return true;
  }

  /** Ends the reservation of hosts for the Exposure with this key. */
  release(hosts: readonly string[], key: string): void {
    for (const host of hosts) {
      if (this.#reservations.get(host) === key) this.#reservations.delete(host);
    }
  }

  /** Returns the keys of the Exposures that claim a host. */
  claimantsOf(host: string): Iterable<string> {
    return this.#currentClaims().claimantsOf(host);
  }

  /** Returns all hosts that Exposures claim. */
  claimedHosts(): Iterable<string> {
    return this.#currentClaims().hosts();
  }

  /** Returns the keys of the Exposures that use an Edge. */
  usersOf(edge: string): ReadonlySet<string> {
    return this.#currentClaims().usersOf(edge);
  }

  /**
   * Returns the key of an Exposure other than `except` whose record has the provider's object with this uid; undefined
   * if there is none.
   */
  preparedBy(uid: string, except: string): string | undefined {
    if (this.#prepared === undefined) {
      const prepared = new PreparedObjects();
      for (const object of this.#sources.exposures()) prepared.put(object);
      this.#prepared = prepared;
    }
    return this.#prepared.otherOwnerOf(uid, except);
  }

  /** Most changes are status writes of the operator. They keep the parsed spec, which is expensive to parse. */
  #carryOver(previous: KubeObject, object: KubeObject): void {
    const value = this.#exposures.known(previous);
    const { generation } = object.metadata;
    if (value === undefined || generation === undefined) return;
    if (generation !== previous.metadata.generation) return;
    this.#exposures.set(object, { ...value, metadata: (object as Exposure).metadata });
  }

  /** Updates the claims of an Exposure after a change of their inputs. */
  #reclaim(key: string): void {
    if (this.#claims?.has(key) !== true) return;
    const object = this.#sources.exposure?.(key);
    if (object !== undefined) this.#claims.put(this.#claimOf(object));
  }

  /** Updates the claims of these Exposures. Returns the hosts that they have stopped or started to claim. */
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

  /** Returns the hosts that the spec of an Exposure claims. */
  hostsClaimedBy(object: KubeObject): readonly string[] {
    return claimedHosts(this.#claimOf(object));
  }

  #hostsOf(exposure: Exposure, edge: Edge): Hosts | Finding {
    const { namespace } = exposure.metadata;
    const labels = this.#sources.namespaceLabels?.(namespace) ?? labelsOfNamespace(namespace);
    const routes = this.#tenantRoutes.ofExposure(keyText(exposure.metadata));
    return deletionFault(exposure, edge, routes) ?? hostsOf(exposure, edge, labels);
  }

  /** An invalid Exposure claims no hosts, but still owns the hosts of its TenantRoutes. */
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

/** The status is dropped: no decision depends on it, and parsing it took 0.44 of 0.47 ms. */
function exposureOf(object: KubeObject): Exposure {
  const { status: _, metadata, ...others } = object as Exposure;
  return { ...parseExposure({ ...others, metadata }), metadata };
}
