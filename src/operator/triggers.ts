/**
 * Who has to be looked at when something in the management cluster changes: all whom it may concern, and nobody else.
 */
import type { Edge } from '../api/edge.ts';
import type { ExposureStatus } from '../api/exposure.ts';
import { claimsOf, covers } from '../edges/claims/claims.ts';
import { keyText, type KubeObject, type ObjectKey } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { WorkQueue } from '../kube/work-queue.ts';
import { isConcerned } from './edge/edge-setting.ts';
import type { ManagementCluster, ManagementListener } from './management/management-cluster.ts';

/** What it takes. */
export interface TriggersOptions {
  /** Absent until it is put together. */
  readonly management: () => Pick<ManagementCluster, 'exposures' | 'edges' | 'book' | 'all'>;
  readonly exposures: WorkQueue;
  readonly edges: WorkQueue;
  /** Of the operator. */
  readonly namespace: string;
  /** Whether a change of an Exposure is somebody else's to its status. */
  readonly hasForeignStatus: (object: KubeObject, previous: KubeObject) => boolean;
}

/** Exposures come and go by the hundred; their Edge counts them once in a while. */
const EDGE_GATHER_MS = 500;

/** Puts keys into the queues. */
export class Triggers implements ManagementListener {
  readonly #options: TriggersOptions;

  constructor(options: TriggersOptions) {
    this.#options = options;
  }

  readonly onExposure = (object: KubeObject, previous: KubeObject | undefined): void => {
    const { exposures, hasForeignStatus } = this.#options;
    const key = keyText(object.metadata);
    this.#gatherEdges();
    const isForeign = previous !== undefined && hasForeignStatus(object, previous);
    const isNews = previous === undefined || isForeign || !isOurOwnWriting(object, previous);
    if (isNews) exposures.add(key);
    // Hosts that are given up may be what others wait for, and they are held for as long as they are routed.
    if (previous === undefined || hasOtherClaims(object, previous)) this.#lookAtRefused(key);
  };

  readonly onEdge = (object: KubeObject, previous: KubeObject | undefined): void => {
    const isSame =
      previous !== undefined &&
      isOurOwnWriting(object, previous) &&
      Bun.deepEquals(addressesIn(object), addressesIn(previous));
    if (isSame) return;
    this.#options.edges.add(object.metadata.name);
    this.#lookAtAll();
  };

  readonly onService = ({ namespace, name }: ObjectKey): void => {
    const { book, exposures } = this.#options.management();
    this.#lookAt(exposures.list(), (object) => {
      if (object.metadata.namespace !== namespace) return false;
      return book.exposureIn(object).value?.spec.controlPlane.service?.name === name;
    });
    if (namespace === this.#options.namespace) this.#gatherEdges();
  };

  readonly onOwned = (exposure: ObjectKey): void => {
    this.#options.exposures.add(keyText(exposure));
  };

  /** Somebody claims hosts, or gives them up: those of ours that are among them are looked at. */
  readonly onStranger = (object: KubeObject): void => {
    const claims = claimsOf(object);
    this.#lookAt(this.#options.management().exposures.list(), (exposure) => {
      const { route } = statusIn(exposure);
      const hosts = [route?.api?.host, route?.konnectivity?.host];
      return claims.some((claim) =>
        hosts.some((host) => host !== undefined && covers(claim, host)),
      );
    });
  };

  readonly onNamespace = (name: string): void => {
    this.#lookAt(
      this.#options.management().exposures.list(),
      ({ metadata }) => metadata.namespace === name,
    );
  };

  readonly onEdgeSetting = (setting: KubeObject): void => {
    const { all, book, edges, exposures } = this.#bound();
    const classes = all(RESOURCES.ingressClass);
    const concerned = new Set<string>();
    for (const object of edges.list()) {
      const { value } = book.edgeIn(object);
      if (value !== undefined && !isConcerned(value, setting, classes)) continue;
      concerned.add(object.metadata.name);
      this.#options.edges.add(object.metadata.name);
    }
    if (concerned.size === 0) return;
    this.#lookAt(exposures.list(), (object) => {
      const { value: exposure } = book.exposureIn(object);
      const { value: edge } = exposure === undefined ? {} : book.edgeOf(exposure);
      return edge !== undefined && concerned.has(edge.metadata.name);
    });
  };

  readonly onServed = (): void => {
    for (const { metadata } of this.#options.management().edges.list()) {
      this.#options.edges.add(metadata.name);
    }
    this.#lookAtAll();
  };

  #bound() {
    const management = this.#options.management();
    const { book, edges, exposures } = management;
    return { book, edges, exposures, all: management.all.bind(management) };
  }

  #gatherEdges(): void {
    for (const { metadata } of this.#options.management().edges.list()) {
      this.#options.edges.addAfter(metadata.name, EDGE_GATHER_MS);
    }
  }

  #lookAtRefused(except: string): void {
    this.#lookAt(this.#options.management().exposures.list(), (object) => {
      const { conditions = [] } = statusIn(object);
      const isRefused = conditions.some(
        ({ type, status }) => type === 'Accepted' && status === 'False',
      );
      return isRefused && keyText(object.metadata) !== except;
    });
  }

  #lookAtAll(): void {
    this.#lookAt(this.#options.management().exposures.list(), () => true);
  }

  #lookAt(objects: readonly KubeObject[], isMeant: (exposure: KubeObject) => boolean): void {
    for (const object of objects) {
      if (isMeant(object)) this.#options.exposures.add(keyText(object.metadata));
    }
  }
}

/** As far as it goes: it was not looked into whether it is as it should be. */
function statusIn(exposure: KubeObject): Partial<ExposureStatus> {
  return (exposure as { readonly status?: ExposureStatus }).status ?? {};
}

/** A status or a finalizer that we wrote ourselves is no news. */
function isOurOwnWriting(
  { metadata: after }: KubeObject,
  { metadata: before }: KubeObject,
): boolean {
  return (
    after.generation === before.generation &&
    after.deletionTimestamp === before.deletionTimestamp &&
    Bun.deepEquals(after.annotations, before.annotations) &&
    Bun.deepEquals(after.ownerReferences, before.ownerReferences)
  );
}

/** Where an Edge is: its routes are led there, and its workers' proxies. */
function addressesIn(edge: KubeObject): readonly string[] {
  return (edge as Partial<Edge>).status?.addresses ?? [];
}

/** Whether something has changed that decides which hosts an Exposure holds. */
function hasOtherClaims(object: KubeObject, previous: KubeObject): boolean {
  return (
    object.metadata.generation !== previous.metadata.generation ||
    !Bun.deepEquals(statusIn(object).route, statusIn(previous).route)
  );
}
