/**
 * The operator's connection to one tenant: a client, and watches of the few objects whose drift is repaired within seconds.
 * Everything else is read when it is needed: with a thousand tenants, each watch costs 20 to 30 MB.
 */
import type { Clock } from '../../../clock/clock.ts';
import { Applier } from '../../../kube/apply/apply.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { Informer, type InformerOptions } from '../../../kube/informer/informer.ts';
import { WithOwnWrites } from '../../../kube/informer/own-writes.ts';
import type { InformerCounters } from '../../../kube/informer/relist.ts';
import type { Change } from '../../../kube/informer/cache.ts';
import type { KubeError } from '../../../kube/kube-error.ts';
import { isLowerVersion, type KubeObject } from '../../../kube/object.ts';
import { RecentReads } from '../../../kube/client/recent-reads.ts';
import { RESOURCES, resourceOf, type Resource } from '../../../kube/resource.ts';
import type { EndpointSlice } from '../../../kube/endpoints/endpoint-slice.ts';
import type { ProxyPod } from '../../../probe/hops/proxies.ts';
import { PROXY } from '../../../tenant/proxy-names.ts';
import { ownedClient } from '../ownership/owned-client.ts';
import { proxyCounts, type DaemonSetWithStatus } from '../../../tenant/proxy-addresses.ts';
import { trimDaemonSet, trimPod, trimEndpointSlice, TENANT_BOUNDS } from './trim-objects.ts';
import { internalAddresses, TENANT_SELECTIONS, type Node, type TenantView } from './tenant-view.ts';

interface TenantLinkOptions {
  readonly client: KubeClient;
  /** Whether this operator owns the tenant now. Default: always. */
  readonly isOwned?: (() => boolean) | undefined;
  /** Whether to watch nodes and proxy pods, because slices have an endpoint for every node. */
  readonly watchesNodes: boolean;
  /** How long reads are cached. */
  readonly freshMs: number;
  /** How long a rollout of the proxies may make no progress before it is stuck. Default 120,000, enough to pull an image. */
  readonly stuckAfterMs?: number | undefined;
  /** Called when a watched object has changed. An object that this operator has created is no change. */
  readonly onChange: () => void;
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  /** Default: each informer has its own. */
  readonly counters?: InformerCounters | undefined;
}

/** The link to one tenant. */
export class TenantLink implements TenantView {
  /** Reads, and writes while this operator owns the tenant. */
  readonly client: KubeClient;
  readonly applier: Applier;
  /** For the Lease of the tenant only. Its writes do not depend on the Lease. */
  readonly leaseClient: KubeClient;
  /** Reads with a short-lived cache. */
  readonly reader: RecentReads;
  readonly slices: WithOwnWrites<EndpointSlice>;
  readonly daemonSets: WithOwnWrites<DaemonSetWithStatus>;
  /** With `watchesNodes` only. */
  readonly nodes: Informer<Node> | undefined;
  readonly pods: Informer<ProxyPod> | undefined;

  readonly #slices: Informer<EndpointSlice>;
  readonly #daemonSets: Informer<DaemonSetWithStatus>;
  readonly #closed = new AbortController();
  readonly #onChange: () => void;
  readonly #stuckAfterMs: number;
  readonly #clock: Clock;
  /** The progress of the current rollout, and the time of the last progress. */
  #rollout: { readonly mark: string; readonly sinceMs: number } | undefined;
  /** Watch events that have arrived during a write. Undefined: there is no write. */
  #pendingChanges: Change<KubeObject>[] | undefined;
  /** The versions of the last writes. */
  readonly #ownVersions = new Set<string>();
  #writes = 0;

  constructor(options: TenantLinkOptions) {
    const { client, watchesNodes, freshMs, onChange, clock, random } = options;
    const { counters, isOwned = () => true } = options;
    this.#stuckAfterMs = options.stuckAfterMs ?? 120_000;
    this.#clock = clock;
    this.leaseClient = client;
    this.client = ownedClient(client, isOwned);
    this.applier = new Applier(this.client, { clock });
    this.reader = new RecentReads(client, freshMs, clock);
    const informer = <T extends KubeObject>(
      resource: Resource,
      more: Pick<InformerOptions<T>, 'selection' | 'bounds' | 'trim'>,
    ) => new Informer<T>({ client, clock, random, counters, resource, ...more });
    this.#slices = informer(RESOURCES.endpointSlice, {
      selection: TENANT_SELECTIONS.slices,
      bounds: TENANT_BOUNDS.slices,
      trim: trimEndpointSlice,
    });
    this.slices = new WithOwnWrites(this.#slices, clock);
    this.#daemonSets = informer(RESOURCES.daemonSet, {
      selection: TENANT_SELECTIONS.daemonSets,
      bounds: TENANT_BOUNDS.daemonSets,
      trim: trimDaemonSet,
    });
    this.daemonSets = new WithOwnWrites(this.#daemonSets, clock);
    if (watchesNodes) {
      this.nodes = informer(RESOURCES.node, {
        bounds: TENANT_BOUNDS.nodes,
        trim: internalAddresses,
      });
      this.pods = informer(RESOURCES.pod, {
        selection: TENANT_SELECTIONS.pods,
        bounds: TENANT_BOUNDS.pods,
        trim: trimPod,
      });
    }
    this.#onChange = onChange;
    this.#slices.onChange((change) => this.#notify(change));
    this.#daemonSets.onChange((change) => this.#notify(change));
    this.nodes?.onChange(onChange);
    this.pods?.onChange(onChange);
  }

  /** Starts the watches one after the other, so that their lists share one connection. */
  open(): void {
    void this.#openAll(this.#closed.signal);
  }

  async #openAll(signal: AbortSignal): Promise<void> {
    for (const informer of this.#informers()) {
      void informer.run(signal);
      const isClosed = await informer.synced(signal).then(
        () => false,
        () => true,
      );
      if (isClosed) return;
    }
  }

  /** Waits until every watch has its first list. @throws KubeError `Malformed`, or the signal's reason */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#informers().map(async (informer) => syncedOrThrow(informer, signal)));
  }

  /** The DaemonSet of the proxies, as watched. */
  get daemonSet(): DaemonSetWithStatus | undefined {
    return this.daemonSets.get(PROXY);
  }

  /** How much longer the rollout may make no progress; 0 if it is stuck, undefined if there is none. */
  rolloutLeftMs(daemonSet: DaemonSetWithStatus): number | undefined {
    const { isObserved, desired, updated, ready } = proxyCounts(daemonSet);
    if (isObserved && updated >= desired) return (this.#rollout = undefined);
    const mark = `${daemonSet.metadata.generation} ${updated} ${desired} ${ready}`;
    const nowMs = this.#clock.nowMs();
    if (this.#rollout?.mark !== mark) this.#rollout = { mark, sinceMs: nowMs };
    return Math.max(0, this.#rollout.sinceMs + this.#stuckAfterMs - nowMs);
  }

  close(): void {
    this.#closed.abort();
    this.reader.clear();
  }

  /**
   * Runs work that writes to the tenant. Watch events are held back until it ends: the event for a write often arrives before
   * the response.
   */
  async writing<T>(work: () => Promise<T>): Promise<T> {
    const changes: Change<KubeObject>[] = [];
    this.#pendingChanges = changes;
    this.#ownVersions.clear();
    try {
      return await work();
    } finally {
      this.#pendingChanges = undefined;
      for (const change of changes) this.#notify(change);
    }
  }

  /** The number of objects that were written to the tenant. */
  get writes(): number {
    return this.#writes;
  }

  /** Records an object that was written. */
  wrote(object: KubeObject): void {
    const { kind, metadata } = object;
    this.#ownVersions.add(metadata.resourceVersion ?? '');
    this.#writes++;
    // The watch may be ahead of the response: it may have delivered even the deletion of the object.
    if (this.#isDelivered(object)) return;
    if (kind === RESOURCES.endpointSlice.kind) {
      this.slices.wrote(trimEndpointSlice(object as EndpointSlice));
    } else if (kind === RESOURCES.daemonSet.kind) {
      this.daemonSets.wrote(trimDaemonSet(object as DaemonSetWithStatus));
    } else this.reader.put(resourceOf(object), object);
  }

  /** Reports whether the watch has delivered this version or a later one during the write. */
  #isDelivered({ metadata: { uid, resourceVersion = '' } }: KubeObject): boolean {
    return (this.#pendingChanges ?? []).some(
      ({ object: { metadata } }) =>
        metadata.uid === uid && !isLowerVersion(metadata.resourceVersion ?? '', resourceVersion),
    );
  }

  #notify(change: Change<KubeObject>): void {
    const isOurs = this.#ownVersions.has(change.object.metadata.resourceVersion ?? '');
    if (this.#pendingChanges !== undefined) this.#pendingChanges.push(change);
    // An object that Snicket has changed may need a next step; one that it has created does not.
    else if (change.type !== 'ADDED' || !isOurs) this.#onChange();
  }

  #informers(): readonly TenantInformer[] {
    const all = [this.#slices, this.#daemonSets, this.nodes, this.pods];
    return all.filter((informer) => informer !== undefined);
  }
}

type TenantInformer = Pick<Informer<KubeObject>, 'run' | 'synced' | 'state' | 'onFailure'>;

/** Waits for the first list. A malformed response is not waited out. @throws KubeError `Malformed` */
async function syncedOrThrow(informer: TenantInformer, signal: AbortSignal): Promise<void> {
  const { promise: fault, reject } = Promise.withResolvers<never>();
  const refuse = (error: KubeError | undefined) => {
    if (error?.reason === 'Malformed') reject(error);
  };
  const stop = informer.onFailure(refuse);
  refuse(informer.state.lastError);
  await Promise.race([fault, informer.synced(signal)]).finally(stop);
}
