/**
 * Adds keys to the queues when objects in the management cluster change: those of everything that depends on the object.
 */
import type { Edge } from '../api/edge.ts';
import { exposureKeyOf } from '../api/host-ownership.ts';
import type { TenantRoute } from '../api/tenant-route.ts';
import { claimsOf, covers } from '../edges/claims/claims.ts';
import { isSameIngressClass } from '../edges/ingress-class.ts';
import { keyText, type KubeObject, type ObjectKey } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { WorkQueue } from '../kube/work-queue.ts';
import {
  isUsable,
  RECORD_ANNOTATION,
  recordOf,
  type ObjectRecord,
} from '../providers/preparation/record.ts';
import { WATCHED_RESOURCES } from '../providers/provider-resources.ts';
import { requestsExposure } from '../providers/shims/shim.ts';
import {
  dependencyOn,
  dependencyOnNames,
  type Dependency,
  type DependencyIndex,
} from '../management/dependency-index.ts';
import type { AffectedExposures } from '../management/exposure-index.ts';
import { dependsOnSetting } from './edge/edge-setting.ts';
import type { ManagementCluster } from './management/management-cluster.ts';
import type { ManagementListener } from './management/management-listener.ts';
import { shimKeyAt, shimKeyOf } from './shim/shim-key.ts';

/** Options of {@link Triggers}. */
export interface TriggersOptions {
  /** A function, because the management cluster is constructed after its listener. */
  readonly management: () => Pick<
    ManagementCluster,
    | 'exposures'
    | 'edges'
    | 'exposureIndex'
    | 'tenantRoutes'
    | 'all'
    | 'provided'
    | 'providedAt'
    | 'requesting'
  >;
  /** The queue of Exposures. */
  readonly exposures: Pick<WorkQueue, 'add'>;
  /** What Exposures depend on, as their last reconcile read it. */
  readonly dependencies: DependencyIndex;
  readonly edges: WorkQueue;
  /** The queue of provider objects that may have an annotation for an Exposure. */
  readonly shims: WorkQueue;
  /** Of the operator. */
  readonly namespace: string;
  /** Whether another client has changed the status of an Exposure. */
  readonly hasForeignStatus: (object: KubeObject, previous: KubeObject) => boolean;
}

/** Exposures change by the hundred. Their Edge is reconciled once for all changes within this time. */
const EDGE_GATHER_MS = 500;

/** Adds keys to the queues. */
export class Triggers implements ManagementListener {
  readonly #options: TriggersOptions;

  constructor(options: TriggersOptions) {
    this.#options = options;
  }

  readonly onExposure = (object: KubeObject, previous: KubeObject | undefined): void => {
    const { exposures, hasForeignStatus } = this.#options;
    const key = keyText(object.metadata);
    this.#addEdgesSoon();
    const isForeign = previous !== undefined && hasForeignStatus(object, previous);
    const isRelevant = previous === undefined || isForeign || !isOwnWrite(object, previous);
    if (isRelevant) exposures.add(key);
    if (isRelevant) this.#addShimsAt(object.metadata);
    // Other Exposures may wait for hosts that this one does not claim any more.
    this.#addClaimants(this.#hostsNoLongerClaimed(object, previous), key);
    // Other Exposures may wait for objects of a provider that are no longer prepared for this one.
    const { namespace } = object.metadata;
    for (const { group, kind, name } of this.#objectsNoLongerRecorded(object, previous)) {
      this.#addDependents(dependencyOn({ apiVersion: `${group}/`, kind }, { name, namespace }));
    }
  };

  readonly onTenantRoute = (route: TenantRoute): void => {
    const key = exposureKeyOf(route);
    this.#options.exposures.add(key);
    this.#addClaimants([route.spec.host], key);
    // An Exposure that its Edge does not allow uses it as long as it has a TenantRoute.
    this.#addEdgesSoon();
  };

  /** The write of the first TenantRoutes for these hosts has ended. Other Exposures may wait for the hosts. */
  readonly onHostsReleased = (hosts: readonly string[], key: string): void => {
    this.#addClaimants(hosts, key);
  };

  readonly onEdge: ManagementListener['onEdge'] = (object, previous, affected) => {
    if (previous !== undefined && isOwnWrite(object, previous)) {
      // Another client may have changed the addresses: the controller of Edges writes them again.
      const isSame = Bun.deepEquals(addressesIn(object), addressesIn(previous));
      if (!isSame) this.#options.edges.add(object.metadata.name);
      return;
    }
    this.#options.edges.add(object.metadata.name);
    this.#addEdgesSoon(); // each reports whether several Edges are the default
    this.#addAffected(affected);
    const management = this.#options.management();
    for (const one of affected.edgeRefs.flatMap((edge) => management.requesting(edge))) {
      this.#addShim(one);
    }
  };

  readonly onService = (key: ObjectKey): void => {
    this.#addDependents(dependencyOn(RESOURCES.service, key));
    if (key.namespace === this.#options.namespace) this.#addEdgesSoon();
  };

  readonly onOwned = (exposure: ObjectKey): void => {
    this.#options.exposures.add(keyText(exposure));
  };

  /** A foreign route claims hosts or gives them up: the Exposures with these hosts are reconciled. */
  readonly onForeignRoute = (object: KubeObject): void => {
    const { tenantRoutes, exposureIndex } = this.#options.management();
    for (const claim of claimsOf(object)) {
      const isExact = claim.match === 'exact';
      const routes = isExact
        ? tenantRoutes.ofHost(claim.host)
        : tenantRoutes.list().filter(({ spec }) => covers(claim, spec.host));
      for (const route of routes) this.#options.exposures.add(exposureKeyOf(route));
      // An Exposure that moves has no TenantRoute of its new host yet.
      const hosts = isExact
        ? [claim.host]
        : [...exposureIndex.claimedHosts()].filter((host) => covers(claim, host));
      this.#addClaimants(hosts);
    }
  };

  readonly onNamespace: ManagementListener['onNamespace'] = (name, affected) => {
    this.#addDependents(dependencyOn(RESOURCES.namespace, { name }));
    this.#addAffected(affected);
  };

  readonly onEdgeSetting: ManagementListener['onEdgeSetting'] = (setting, previous) => {
    const isClass = setting.kind === RESOURCES.ingressClass.kind;
    if (isClass && previous !== undefined && isSameIngressClass(setting, previous)) return;
    const management = this.#options.management();
    const classes = management.all(RESOURCES.ingressClass);
    for (const object of management.edges.list()) {
      const { value } = management.exposureIndex.edgeIn(object);
      if (value !== undefined && !dependsOnSetting(value, setting, classes)) continue;
      this.#options.edges.add(object.metadata.name);
      this.#addDependents(dependencyOn(RESOURCES.edge, object.metadata));
    }
    // The controller of a class is immutable: only a class that appears or is deleted changes what is handled.
    if (!isClass || previous !== undefined) return;
    this.#addDependents(dependencyOnNames(RESOURCES.ingressClass));
    this.#addAnnotated();
  };

  readonly onProvided = (object: KubeObject): void => {
    this.#addShim(object);
    this.#addDependents(dependencyOn(object, object.metadata));
  };

  readonly onDiscovery = (): void => {
    for (const { metadata } of this.#options.management().edges.list()) {
      this.#options.edges.add(metadata.name);
    }
    this.#addAll();
  };

  #addShim(object: KubeObject): void {
    const key = shimKeyOf(object);
    if (key !== undefined) this.#options.shims.add(key);
  }

  /** Adds these Exposures, and those that wait for hosts that they give up or claim now. */
  #addAffected({ keys, hosts }: AffectedExposures): void {
    for (const key of keys) this.#options.exposures.add(key);
    this.#addClaimants(hosts);
  }

  /** Adds the Exposures that depend on an object. */
  #addDependents(dependency: Dependency): void {
    for (const key of this.#options.dependencies.dependents(dependency)) {
      this.#options.exposures.add(key);
    }
  }

  /** Adds the provider objects of this name: one of them may request the Exposure by an annotation. */
  #addShimsAt(at: ObjectKey): void {
    const management = this.#options.management();
    for (const resource of WATCHED_RESOURCES) {
      const exists = management.providedAt(resource, at) !== undefined;
      if (exists) this.#options.shims.add(shimKeyAt(resource, at));
    }
  }

  /** Adds the provider objects that request an Exposure by an annotation: whether they get one depends on their Edge. */
  #addAnnotated(): void {
    const management = this.#options.management();
    for (const object of WATCHED_RESOURCES.flatMap((kind) => management.provided(kind))) {
      if (requestsExposure(object)) this.#addShim(object);
    }
  }

  #addEdgesSoon(): void {
    for (const { metadata } of this.#options.management().edges.list()) {
      this.#options.edges.addAfter(metadata.name, EDGE_GATHER_MS);
    }
  }

  /** The hosts that an Exposure does not claim any more, or is about to give up. */
  #hostsNoLongerClaimed(object: KubeObject, previous: KubeObject | undefined): readonly string[] {
    const { exposureIndex, exposures } = this.#options.management();
    const exists = exposures.get(object.metadata) !== undefined;
    if (previous === undefined) return exists ? [] : exposureIndex.hostsClaimedBy(object);
    if (isUnchanged(object, previous)) return [];
    const before = exposureIndex.hostsClaimedBy(previous);
    // Exposures that wait for a host report that its owner is being deleted.
    const { deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== previous.metadata.deletionTimestamp) return before;
    const claimed = new Set(exposureIndex.hostsClaimedBy(object));
    return before.filter((host) => !claimed.has(host));
  }

  /** The objects that the record of an Exposure does not name any more. */
  #objectsNoLongerRecorded(
    object: KubeObject,
    previous: KubeObject | undefined,
  ): readonly ObjectRecord[] {
    const exists = this.#options.management().exposures.get(object.metadata) !== undefined;
    if (previous === undefined) return exists ? [] : recordedObjects(object);
    const text = ({ metadata }: KubeObject) => metadata.annotations?.[RECORD_ANNOTATION];
    if (text(object) === text(previous)) return [];
    const recorded = new Set(recordedObjects(object).map(({ uid }) => uid));
    return recordedObjects(previous).filter(({ uid }) => !recorded.has(uid));
  }

  #addClaimants(hosts: readonly string[], except?: string): void {
    const { exposureIndex } = this.#options.management();
    for (const key of hosts.flatMap((host) => [...exposureIndex.claimantsOf(host)])) {
      if (key !== except) this.#options.exposures.add(key);
    }
  }

  #addAll(): void {
    for (const { metadata } of this.#options.management().exposures.list()) {
      this.#options.exposures.add(keyText(metadata));
    }
  }
}

function recordedObjects(exposure: KubeObject): readonly ObjectRecord[] {
  const record = recordOf(exposure);
  return isUsable(record) ? record.objects : [];
}

/** Whether only the status or a finalizer differs, which the operator writes itself. */
function isOwnWrite({ metadata: after }: KubeObject, { metadata: before }: KubeObject): boolean {
  return (
    after.generation === before.generation &&
    after.deletionTimestamp === before.deletionTimestamp &&
    Bun.deepEquals(after.annotations, before.annotations) &&
    Bun.deepEquals(after.ownerReferences, before.ownerReferences)
  );
}

/** The addresses in the status of an Edge, for users. */
function addressesIn(edge: KubeObject): readonly string[] {
  return (edge as Partial<Edge>).status?.addresses ?? [];
}

function isUnchanged({ metadata: after }: KubeObject, { metadata: before }: KubeObject): boolean {
  return (
    after.generation === before.generation && after.deletionTimestamp === before.deletionTimestamp
  );
}
