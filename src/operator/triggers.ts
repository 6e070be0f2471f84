/**
 * The event handlers of the operator: when an object in the management cluster changes, they enqueue reconcile requests for
 * the Edges, Exposures and provider objects that depend on it.
 */
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
import { shimKeyFor, shimKeyOf } from './shim/shim-key.ts';

/** Options of {@link Triggers}. */
export interface TriggersOptions {
  readonly management: Pick<
    ManagementCluster,
    | 'exposures'
    | 'edges'
    | 'exposureIndex'
    | 'tenantRoutes'
    | 'all'
    | 'providerObjects'
    | 'providerObject'
    | 'objectsRequesting'
  >;
  /** The queue of reconcile requests for Exposures. */
  readonly exposures: Pick<WorkQueue, 'add'>;
  /** The objects that the last reconcile of each Exposure depended on. */
  readonly dependencies: DependencyIndex;
  /** The queue of reconcile requests for Edges. */
  readonly edges: WorkQueue;
  /**
   * The queue of provider objects, such as TenantControlPlanes, that may request an Exposure by an annotation. The shim
   * controller creates these Exposures.
   */
  readonly shims: WorkQueue;
  /** The namespace of the operator and the gateway. */
  readonly namespace: string;
  /**
   * Reports whether another client than the operator has changed the status of an Exposure or Edge. Called for every change
   * of these objects.
   */
  readonly hasForeignStatus: (object: KubeObject, previous: KubeObject) => boolean;
}

/**
 * The delay before Edges are reconciled after a change of an Exposure, TenantRoute, Edge or Service. Exposures often change
 * in bulk: one reconcile of an Edge covers all changes within this time.
 */
const EDGE_BATCH_MS = 500;

/** The prefix of Snicket's finalizers. */
const OWN_FINALIZERS = 'snicket.dev/';

/**
 * Maps events to reconcile requests. It decides only what to enqueue: it writes nothing, and a request that turns out to be
 * unnecessary has no effect.
 */
export class Triggers implements ManagementListener {
  readonly #options: TriggersOptions;

  constructor(options: TriggersOptions) {
    this.#options = options;
  }

  readonly onExposure = (object: KubeObject, previous: KubeObject | undefined): void => {
    const { exposures, hasForeignStatus } = this.#options;
    const key = keyText(object.metadata);
    this.#enqueueAllEdges();
    const isForeign = previous !== undefined && hasForeignStatus(object, previous);
    // Created or deleted, or changed in more than the status and the finalizers that the operator writes.
    if (
      previous === undefined ||
      isForeign ||
      !haveSameInputs(object, previous) ||
      hasLostFinalizer(object, previous)
    ) {
      exposures.add(key);
      this.#enqueueShimsNamed(object.metadata);
    }
    // Other Exposures may wait for hosts that this Exposure no longer claims.
    this.#enqueueClaimants(this.#releasedHosts(object, previous), key);
    // Other Exposures may wait for provider objects that are no longer prepared for this Exposure.
    const { namespace } = object.metadata;
    for (const { group, kind, name } of this.#objectsRemovedFromRecord(object, previous)) {
      // Dependencies do not contain a version, so it is left empty.
      const apiVersion = `${group}/`;
      this.#enqueueDependents(dependencyOn({ apiVersion, kind }, { name, namespace }));
    }
  };

  readonly onTenantRoute = (route: TenantRoute): void => {
    const key = exposureKeyOf(route);
    this.#options.exposures.add(key);
    this.#enqueueClaimants([route.spec.host], key);
    // An Exposure that its Edge does not allow still uses the Edge while it has a TenantRoute.
    this.#enqueueAllEdges();
  };

  /**
   * Handles the end of a reservation: the requests that create the first TenantRoutes for these hosts have ended. Enqueues
   * the other Exposures that claim the hosts. `key` is the Exposure that had reserved them.
   */
  readonly onHostsReleased = (hosts: readonly string[], key: string): void => {
    this.#enqueueClaimants(hosts, key);
  };

  readonly onEdge: ManagementListener['onEdge'] = (object, previous, affected) => {
    const isForeign = previous !== undefined && this.#options.hasForeignStatus(object, previous);
    if (previous !== undefined && haveSameInputs(object, previous)) {
      // The Edge controller restores the status or the finalizer if another client has changed it.
      if (isForeign || hasLostFinalizer(object, previous)) {
        this.#options.edges.add(object.metadata.name);
      }
      return;
    }
    this.#options.edges.add(object.metadata.name);
    this.#enqueueAllEdges(); // the status of each default Edge reports the others
    this.#enqueueAffected(affected);
    const management = this.#options.management;
    for (const providerObject of affected.edgeRefs.flatMap((edge) =>
      management.objectsRequesting(edge),
    )) {
      this.#enqueueShim(providerObject);
    }
  };

  readonly onService = (key: ObjectKey): void => {
    this.#enqueueDependents(dependencyOn(RESOURCES.service, key));
    if (key.namespace === this.#options.namespace) this.#enqueueAllEdges();
  };

  readonly onOwnedObject = (exposure: ObjectKey): void => {
    this.#options.exposures.add(keyText(exposure));
  };

  /** Handles a route object that starts or stops claiming hosts. Enqueues the Exposures with these hosts. */
  readonly onForeignRoute = (object: KubeObject): void => {
    const { tenantRoutes, exposureIndex } = this.#options.management;
    for (const claim of claimsOf(object)) {
      const isExact = claim.match === 'exact';
      const routes = isExact
        ? tenantRoutes.ofHost(claim.host)
        : tenantRoutes.list().filter(({ spec }) => covers(claim, spec.host));
      for (const route of routes) this.#options.exposures.add(exposureKeyOf(route));
      // An Exposure that is new, or moves to another host, claims a host without having its TenantRoute yet.
      const hosts = isExact
        ? [claim.host]
        : [...exposureIndex.claimedHosts()].filter((host) => covers(claim, host));
      this.#enqueueClaimants(hosts);
    }
  };

  readonly onNamespace: ManagementListener['onNamespace'] = (name, affected) => {
    this.#enqueueDependents(dependencyOn(RESOURCES.namespace, { name }));
    this.#enqueueAffected(affected);
  };

  readonly onEdgeSetting: ManagementListener['onEdgeSetting'] = (setting, previous) => {
    const isClass = setting.kind === RESOURCES.ingressClass.kind;
    if (isClass && previous !== undefined && isSameIngressClass(setting, previous)) return;
    const management = this.#options.management;
    const classes = management.all(RESOURCES.ingressClass);
    for (const object of management.edges.list()) {
      const { value } = management.exposureIndex.edges.edgeIn(object);
      if (value !== undefined && !dependsOnSetting(value, setting, classes)) continue;
      this.#options.edges.add(object.metadata.name);
      this.#enqueueDependents(dependencyOn(RESOURCES.edge, object.metadata));
    }
    // spec.controller of an IngressClass is immutable. Therefore only its creation or deletion changes which controller
    // handles the Ingresses of a class.
    if (!isClass || previous !== undefined) return;
    this.#enqueueDependents(dependencyOnNames(RESOURCES.ingressClass));
    this.#enqueueAnnotatedObjects();
  };

  readonly onProviderObject = (object: KubeObject): void => {
    this.#enqueueShim(object);
    this.#enqueueDependents(dependencyOn(object, object.metadata));
  };

  readonly onDiscoveryChange = (): void => {
    for (const { metadata } of this.#options.management.edges.list()) {
      this.#options.edges.add(metadata.name);
    }
    this.#enqueueAllExposures();
  };

  #enqueueShim(object: KubeObject): void {
    const key = shimKeyOf(object);
    if (key !== undefined) this.#options.shims.add(key);
  }

  /** Enqueues the affected Exposures, and the Exposures that claim the hosts which the affected Exposures gain or lose. */
  #enqueueAffected({ keys, hosts }: AffectedExposures): void {
    for (const key of keys) this.#options.exposures.add(key);
    this.#enqueueClaimants(hosts);
  }

  /** Enqueues the Exposures that depend on an object. */
  #enqueueDependents(dependency: Dependency): void {
    for (const key of this.#options.dependencies.dependents(dependency)) {
      this.#options.exposures.add(key);
    }
  }

  /** Enqueues the provider objects with the key of an Exposure: one of them may request the Exposure by an annotation. */
  #enqueueShimsNamed(key: ObjectKey): void {
    const management = this.#options.management;
    for (const resource of WATCHED_RESOURCES) {
      const exists = management.providerObject(resource, key) !== undefined;
      if (exists) this.#options.shims.add(shimKeyFor(resource, key));
    }
  }

  /** Enqueues all provider objects that request an Exposure by an annotation. Their Edge decides whether they get it. */
  #enqueueAnnotatedObjects(): void {
    const management = this.#options.management;
    for (const object of WATCHED_RESOURCES.flatMap((kind) => management.providerObjects(kind))) {
      if (requestsExposure(object)) this.#enqueueShim(object);
    }
  }

  /** Enqueues all Edges after {@link EDGE_BATCH_MS}. */
  #enqueueAllEdges(): void {
    for (const { metadata } of this.#options.management.edges.list()) {
      this.#options.edges.addAfter(metadata.name, EDGE_BATCH_MS);
    }
  }

  /** Returns the hosts that an Exposure no longer claims, and all its hosts if it starts being deleted. */
  #releasedHosts(object: KubeObject, previous: KubeObject | undefined): readonly string[] {
    const { exposureIndex, exposures } = this.#options.management;
    const exists = exposures.get(object.metadata) !== undefined;
    if (previous === undefined) return exists ? [] : exposureIndex.hostsClaimedBy(object);
    if (haveSameSpec(object, previous)) return [];
    const previousHosts = exposureIndex.hostsClaimedBy(previous);
    // The status of Exposures that wait for a host reports that the owner of the host is being deleted.
    const { deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== previous.metadata.deletionTimestamp) return previousHosts;
    const hosts = new Set(exposureIndex.hostsClaimedBy(object));
    return previousHosts.filter((host) => !hosts.has(host));
  }

  /** Returns the provider objects that the preparation record of an Exposure no longer contains. */
  #objectsRemovedFromRecord(
    object: KubeObject,
    previous: KubeObject | undefined,
  ): readonly ObjectRecord[] {
    const exists = this.#options.management.exposures.get(object.metadata) !== undefined;
    if (previous === undefined) return exists ? [] : recordedObjects(object);
    const recordText = ({ metadata }: KubeObject) => metadata.annotations?.[RECORD_ANNOTATION];
    if (recordText(object) === recordText(previous)) return [];
    const recorded = new Set(recordedObjects(object).map(({ uid }) => uid));
    return recordedObjects(previous).filter(({ uid }) => !recorded.has(uid));
  }

  /** Enqueues the Exposures that claim one of the hosts, except the Exposure with the key `except`. */
  #enqueueClaimants(hosts: readonly string[], except?: string): void {
    const { exposureIndex } = this.#options.management;
    for (const key of hosts.flatMap((host) => [...exposureIndex.claimantsOf(host)])) {
      if (key !== except) this.#options.exposures.add(key);
    }
  }

  #enqueueAllExposures(): void {
    for (const { metadata } of this.#options.management.exposures.list()) {
      this.#options.exposures.add(keyText(metadata));
    }
  }
}

function recordedObjects(exposure: KubeObject): readonly ObjectRecord[] {
  const record = recordOf(exposure);
  return isUsable(record) ? record.objects : [];
}

/**
 * Reports whether spec, deletionTimestamp, annotations and ownerReferences are equal. The fields that may differ, such as
 * status and finalizers, are written by the operator itself and need no reconcile.
 */
function haveSameInputs({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  return (
    a.generation === b.generation &&
    a.deletionTimestamp === b.deletionTimestamp &&
    Bun.deepEquals(a.annotations, b.annotations) &&
    Bun.deepEquals(a.ownerReferences, b.ownerReferences)
  );
}

/** Reports whether a finalizer of Snicket has been removed. The operator restores one that another client removed. */
function hasLostFinalizer(
  { metadata: after }: KubeObject,
  { metadata: before }: KubeObject,
): boolean {
  const own = (before.finalizers ?? []).filter((finalizer) => finalizer.startsWith(OWN_FINALIZERS));
  return own.some((finalizer) => after.finalizers?.includes(finalizer) !== true);
}

/** Reports whether spec and deletionTimestamp are equal. */
function haveSameSpec({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  return a.generation === b.generation && a.deletionTimestamp === b.deletionTimestamp;
}
