/**
 * The operator: reconciles all Exposures and Edges of one management cluster while this process is the leader.
 */
import type { EdgeStatus } from '../api/edge.ts';
import type { ExposureStatus } from '../api/exposure.ts';
import { systemClock, type Clock } from '../clock/clock.ts';
import type { ListenAddress } from '../net/listen-address.ts';
import { Applier } from '../kube/apply/apply.ts';
import { backoffMs, delay } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { ClusterAccess } from '../kube/access/cluster-access.ts';
import { EventRecorder } from '../kube/events/events.ts';
import { keyText } from '../kube/object.ts';
import { OutdatedError } from '../kube/outdated-error.ts';
import { RESOURCES } from '../kube/resource.ts';
import { StatusWriter } from '../kube/status-writer.ts';
import { WorkQueue } from '../kube/work-queue.ts';
import type { Lookup } from '../probe/hops/dns.ts';
import type { Logger } from '../telemetry/log.ts';
import { EventLoopMonitor } from '../telemetry/event-loop.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { DEFAULT_LEASE_DURATION_MS } from '../tenant/owner-lease.ts';
import { DependencyIndex } from '../management/dependency-index.ts';
import { EdgeController } from './edge/edge-controller.ts';
import { ExposureController } from './exposure/exposure-controller.ts';
import { ExposureProbes } from './exposure/exposure-probes.ts';
import { ExposureReports } from './exposure/exposure-reports.ts';
import { ManagementCluster } from './management/management-cluster.ts';
import { SecretPoller } from './management/secret-poller.ts';
import { ensureMasterKeys, MasterKeySource } from '../management/master-keys.ts';
import { registerOperatorMetrics } from './operator-metrics.ts';
import { Preparer } from '../reconcile/preparation/preparer.ts';
import { SecretRenewals } from '../reconcile/preparation/secret-renewals.ts';
import { ProbeScheduler, type Probe } from './probe-scheduler.ts';
import { ShimController } from './shim/shim-controller.ts';
import { TenantLinks } from '../reconcile/tenant/link/tenant-links.ts';
import { TenantOwnership } from '../reconcile/tenant/ownership/tenant-ownership.ts';
import { RolloutPacer } from '../reconcile/tenant/rollout-pacing.ts';
import { Triggers } from './triggers.ts';

/** Options of an {@link Operator}. */
export interface OperatorOptions {
  readonly client: KubeClient;
  /** The namespace of the operator: of its Lease, and of the gateway's keys and Service. */
  readonly namespace: string;
  /** Identifies this replica. */
  readonly identity: string;
  readonly proxyImage: string;
  readonly log: Logger;
  /** Whether the gateway is on this machine, and so reaches its loopback addresses. Default: it is in the cluster. */
  readonly isGatewayHere?: boolean | undefined;
  /** Whether the gateway on this machine listens at an address. Default: that is unknown. */
  readonly isGatewayAt?: ((address: ListenAddress) => boolean) | undefined;
  /** Files with an Edge that cannot be used. Default: there are no files. */
  readonly unusableFiles?: (() => readonly string[]) | undefined;
  /**
   * Whether this process may still write to tenants. Their Leases name the management cluster and not the replica, so they do
   * not stop a replica that is no longer the leader. Default: always.
   */
  readonly mayWrite?: (() => boolean) | undefined;
  /** Maximum number of concurrent reconciles of Exposures. Default 32: most of their time is spent waiting for tenants. */
  readonly concurrency?: number | undefined;
  /** How long a deleted Exposure waits for a tenant that cannot be reached. Default 300,000. */
  readonly cleanupTimeoutMs?: number | undefined;
  /** How long a provider has to create a Secret again by itself, before Snicket deletes the old one. Default 20,000. */
  readonly renewAfterMs?: number | undefined;
  /**
   * The interval between two reads of an Exposure's Secrets after a change. A full reconcile takes place after five intervals. Both
   * become rarer while nothing changes. Default 120,000.
   */
  readonly resyncMs?: number | undefined;
  /** The longest interval between two such reads. Default 5 times `resyncMs`. */
  readonly maxResyncMs?: number | undefined;
  /** The timeout for the reconcile of a tenant: one that hangs must not delay the others. Default 20,000. */
  readonly tenantTimeoutMs?: number | undefined;
  /** How long an owner keeps a tenant without renewing its Lease. Default {@link DEFAULT_LEASE_DURATION_MS}. */
  readonly leaseDurationMs?: number | undefined;
  /** How long a rollout of a tenant's proxies may make no progress before it is stuck. Default 120,000. */
  readonly stuckAfterMs?: number | undefined;
  /** Whether a finalizer holds a deleted Edge while Exposures use it. Default true. */
  readonly protectsEdges?: boolean | undefined;
  /** Maximum number of tenants that roll out a new release of the proxies at the same time. Default 10. */
  readonly maxConcurrentRollouts?: number | undefined;
  /** The interval between two probes of an Exposure. Up to ten times that while nothing changes. Default 60,000. */
  readonly probeMs?: number | undefined;
  /** Default: a client of the tenant's API server. */
  readonly connectTenant?: ((access: ClusterAccess) => KubeClient) | undefined;
  /** Resolves the hosts of tenants. Default: the resolver of this machine. */
  readonly lookup?: Lookup | undefined;
  /** Default: `probeExposure` over the network. */
  readonly probe?: Probe | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Whether a timer measures blocks of the event loop. Default true. */
  readonly monitorsEventLoop?: boolean | undefined;
}

/** The period of full reconciles after a change, in intervals of `resyncMs`. */
const FULL_RESYNC_INTERVALS = 5;
/** The longest period of full reconciles while nothing changes: an hour by default. */
const STEADY_FULL_RESYNC_INTERVALS = 30;
/** Reads are cached for this time, but never until the next resync. */
const FRESH_MS = 30_000;

/** Number of slots shared by tenants that did not respond last time: they may take their full timeout again. */
const FAILING_CONCURRENCY = 16;
/** A reconcile usually takes less than a second. One that unexpectedly takes longer does not count towards the concurrency. */
const OVERDUE_RUNS = { limitMs: 2_000, extraSlots: 96 };

/** From 0 to 1, for jitter. */
const random = () => Math.random();

type ControllerName = 'exposure' | 'edge' | 'shim' | 'lease';

/** The operator. It runs once: a process that becomes the leader again creates a new one. */
export class Operator {
  readonly metrics = new Metrics();

  readonly #options: OperatorOptions;
  readonly #clock: Clock;
  readonly #resyncMs: number;
  readonly #queues: Readonly<Record<ControllerName, WorkQueue>>;
  readonly #management: ManagementCluster;
  readonly #triggers: Triggers;
  readonly #links: TenantLinks;
  readonly #ownership: TenantOwnership;
  readonly #probes: ProbeScheduler;
  readonly #secrets: SecretPoller;
  readonly #keys: MasterKeySource;
  readonly #events: EventRecorder;
  readonly #eventLoop: EventLoopMonitor;
  readonly #exposureController: ExposureController;
  readonly #edgeController: EdgeController;
  readonly #shimController: ShimController;
  readonly #errors = new Map<string, number>();
  readonly #conflicts = new Map<string, number>();
  #isLeading = false;

  /** Connects the parts. Nothing runs before {@link run}. */
  constructor(options: OperatorOptions) {
    const { client, namespace, log, clock = systemClock } = options;
    const {
      resyncMs = 120_000,
      maxResyncMs,
      leaseDurationMs = DEFAULT_LEASE_DURATION_MS,
    } = options;
    const freshMs = Math.min(FRESH_MS, resyncMs);
    const fullResyncMs = FULL_RESYNC_INTERVALS * resyncMs;
    this.#options = options;
    this.#clock = clock;
    this.#resyncMs = resyncMs;

    this.#queues = {
      exposure: this.#queue('exposure'),
      edge: this.#queue('edge'),
      shim: this.#queue('shim'),
      lease: this.#queue('lease'),
    };
    const { exposure: exposures, edge: edges, shim: shims, lease: leases } = this.#queues;

    // The management cluster.
    const management = new ManagementCluster({
      client,
      log,
      freshMs,
      unusableFiles: options.unusableFiles,
      clock,
      random,
    });
    this.#management = management;
    const dependencies = new DependencyIndex();
    const edgeStatuses = new StatusWriter<EdgeStatus>(client);
    const statuses = new StatusWriter<ExposureStatus>(
      client,
      (object) => management.exposures.get(object.metadata) ?? object,
    );
    this.#triggers = new Triggers({
      management,
      dependencies,
      exposures: { add: (exposure) => this.#changed(exposure) },
      edges,
      shims,
      namespace,
      hasForeignStatus: (object, previous) =>
        object.kind === RESOURCES.edge.kind
          ? edgeStatuses.isForeign(object, previous)
          : statuses.isForeign(object, previous),
    });
    this.#events = new EventRecorder({
      client,
      instance: options.identity,
      logger: log,
      clock,
      controller: 'snicket.dev/operator',
    });
    this.#keys = new MasterKeySource(
      async (keys) =>
        ensureMasterKeys(client, namespace, clock.timeoutSignal(10_000), { keys, log }),
      clock,
    );
    this.#secrets = new SecretPoller({
      log,
      periodMs: resyncMs,
      maxPeriodMs: maxResyncMs ?? fullResyncMs,
      clock,
      random,
      read: async (key, signal) => management.currentSecret(key, signal),
      onChange: (exposure) => {
        this.#exposureController.hasten(exposure);
        exposures.add(exposure);
      },
    });

    // The tenants.
    this.#ownership = new TenantOwnership({
      clusterId: () => this.#clusterId(),
      hasExposure: (key) => management.exposureIndex.has(key),
      durationMs: leaseDurationMs,
      schedule: (exposure, delayMs) => leases.addAfter(exposure, delayMs),
      onChange: (exposure) => exposures.add(exposure),
      log,
      clock,
      random,
    });
    this.#links = new TenantLinks({
      freshMs,
      mayWrite: options.mayWrite,
      isOwned: (exposure, tenant) => this.#ownership.isOwned(exposure, tenant),
      stuckAfterMs: options.stuckAfterMs,
      connect: options.connectTenant,
      clock,
      random,
      onChange: (exposure, delayMs) => {
        this.#exposureController.resetResync(exposure);
        // A node that joins brings an agent.
        this.#probes.hasten(exposure);
        if (delayMs > 0) exposures.addAfter(exposure, delayMs);
        else exposures.addPrioritized(exposure);
      },
    });
    const pacer = new RolloutPacer({
      maxConcurrent: options.maxConcurrentRollouts ?? 10,
      exposures: () => management.exposures.state.objects,
      clock,
      onChange: (exposure) => exposures.add(exposure),
    });
    this.#probes = new ProbeScheduler({
      log,
      periodMs: options.probeMs,
      lookup: options.lookup,
      probe: options.probe,
      tenantClient: (exposure) => this.#links.current(exposure)?.client,
      clock,
      random,
      onChange: (exposure) => {
        this.#exposureController.resetResync(exposure);
        exposures.addPrioritized(exposure);
      },
    });

    // The controllers.
    this.#exposureController = new ExposureController({
      management,
      namespace,
      proxyImage: options.proxyImage,
      isGatewayHere: options.isGatewayHere,
      isGatewayAt: options.isGatewayAt,
      applier: new Applier(client, { clock }),
      onHostsReleased: this.#triggers.onHostsReleased,
      preparer: new Preparer(client, { clock }),
      renewals: new SecretRenewals({ management, renewAfterMs: options.renewAfterMs, clock }),
      statuses,
      reports: new ExposureReports({ statuses, events: this.#events, log, clock }),
      probes: new ExposureProbes(this.#probes, statuses),
      secrets: this.#secrets,
      events: this.#events,
      dependencies,
      readsTenants: true,
      links: this.#links,
      ownership: this.#ownership,
      pacer,
      masterKeys: async () => this.#keys.current(),
      resyncLimits: {
        minMs: fullResyncMs,
        maxMs: maxResyncMs === undefined ? STEADY_FULL_RESYNC_INTERVALS * resyncMs : fullResyncMs,
      },
      cleanupTimeoutMs: options.cleanupTimeoutMs ?? 300_000,
      // An owner stops writing when a third of the duration is left: what it has begun ends within that.
      tenantTimeoutMs: Math.min(options.tenantTimeoutMs ?? 20_000, leaseDurationMs / 3),
      log,
      clock,
      random,
    });
    this.#edgeController = new EdgeController(
      {
        management,
        namespace,
        clock,
        protectsEdges: options.protectsEdges ?? true,
      },
      edgeStatuses,
    );
    this.#shimController = new ShimController({
      management,
      applier: new Applier(client, { clock }),
      events: this.#events,
    });

    this.#eventLoop = new EventLoopMonitor(clock);
    registerOperatorMetrics(this.metrics, {
      queues: this.#queues,
      errors: this.#errors,
      conflicts: this.#conflicts,
      events: this.#events,
      eventLoop: this.#eventLoop,
      informers: { management: management.counters, tenant: this.#links.counters },
      exposures: () => management.exposures.list(),
      edges: () => management.edges.list(),
      tenants: () => this.#links.size,
      isLeader: () => this.#isLeading,
      rollouts: () => pacer.counts,
    });
  }

  /** Why the operator is not ready, as a sentence; undefined if it is ready. */
  notReady(): string | undefined {
    return this.#management.readFault();
  }

  /** Reconciles all Exposures after a change that no watched object shows. */
  reconcileAll(): void {
    for (const { metadata } of this.#management.exposures.list()) {
      this.#queues.exposure.add(keyText(metadata));
    }
  }

  /** Runs until the signal aborts. @throws the reason of the signal if it aborts before the start is complete */
  async run(signal: AbortSignal): Promise<void> {
    const { log, concurrency = 32, monitorsEventLoop = true } = this.#options;
    const stopMonitor = monitorsEventLoop ? this.#eventLoop.start() : () => {};
    try {
      await this.#management.open(this.#triggers, signal);
      this.#isLeading = true;
      log.info('operator started', {
        exposures: this.#management.exposures.list().length,
        edges: this.#management.edges.list().length,
      });
      await Promise.all([
        this.#runExposures(concurrency, signal),
        this.#runEdges(signal),
        this.#runShims(signal),
        this.#runLeases(concurrency, signal),
        this.#pollKeys(signal),
        this.#probes.run(signal),
        this.#secrets.run(signal),
        this.#events.run(signal),
      ]);
    } finally {
      stopMonitor();
      this.#isLeading = false;
      this.#links.closeAll();
    }
  }

  async #runExposures(concurrency: number, signal: AbortSignal): Promise<void> {
    const { exposure: queue } = this.#queues;
    const reconcile = async (key: string, until: AbortSignal) => {
      const requeueAfterMs = await this.#exposureController.reconcile(key, until);
      if (requeueAfterMs !== undefined) queue.addAfter(key, this.#jittered(requeueAfterMs));
    };
    const isSlow = (key: string) => this.#links.failuresOf(key) > 0;
    const slowLane = { concurrency: FAILING_CONCURRENCY, isSlow };
    await queue.run(reconcile, { concurrency, signal, overdueRuns: OVERDUE_RUNS, slowLane });
  }

  async #runEdges(signal: AbortSignal): Promise<void> {
    const reconcile = async (name: string, until: AbortSignal) =>
      this.#edgeController.reconcile(name, until);
    await this.#queues.edge.run(reconcile, { concurrency: 2, signal });
  }

  async #runShims(signal: AbortSignal): Promise<void> {
    const { shim: queue } = this.#queues;
    const reconcile = async (key: string, until: AbortSignal) => {
      const requeueAfterMs = await this.#shimController.reconcile(key, until);
      if (requeueAfterMs !== undefined) queue.addAfter(key, requeueAfterMs);
    };
    await queue.run(reconcile, { concurrency: 4, signal });
  }

  async #runLeases(concurrency: number, signal: AbortSignal): Promise<void> {
    const tend = async (key: string, until: AbortSignal) => this.#ownership.tend(key, until);
    const isSlow = (key: string) => this.#ownership.isFailing(key);
    const slowLane = { concurrency: FAILING_CONCURRENCY, isSlow };
    await this.#queues.lease.run(tend, {
      concurrency,
      signal,
      overdueRuns: OVERDUE_RUNS,
      slowLane,
    });
  }

  /** Reconciles an Exposure after an event, and polls it at the full rate again. */
  #changed(exposure: string): void {
    this.#exposureController.hasten(exposure);
    this.#secrets.hasten(exposure);
    this.#probes.hasten(exposure);
    this.#queues.exposure.add(exposure);
  }

  /**
   * Creates the gateway's keys, which gateways wait for, and polls them. When they change, all Exposures are reconciled, because a
   * reconcile gives each tenant its key.
   */
  async #pollKeys(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    for (let failures = 0; !signal.aborted;) {
      try {
        if (await this.#keys.refresh()) {
          log.info('gateway keys changed');
          this.reconcileAll();
        }
        failures = 0;
        await delay(this.#clock, this.#jittered(this.#resyncMs), signal);
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        log.warn('failed to read or create gateway keys', { error });
        await delay(this.#clock, backoffMs(failures, random()), signal);
      }
    }
  }

  /** With jitter, so that a thousand Exposures are not reconciled in step. */
  #jittered(delayMs: number): number {
    return delayMs * (0.9 + 0.2 * random());
  }

  /** The management cluster, as Leases in tenants name it. */
  #clusterId(): string {
    const { clusterId } = this.#management;
    if (clusterId === undefined) {
      throw new TypeError('Namespace kube-system of the management cluster has no uid');
    }
    return clusterId;
  }

  #queue(controller: ControllerName): WorkQueue {
    return new WorkQueue({
      clock: this.#clock,
      random,
      onFailure: ({ key, error, failures, retryInMs }) => {
        const { log } = this.#options;
        const retry = { controller, key, error, failures, retryInMs };
        if (error instanceof OutdatedError) {
          this.#conflicts.set(controller, (this.#conflicts.get(controller) ?? 0) + 1);
          log.debug('reconcile requeued after a conflict', retry);
          return;
        }
        this.#errors.set(controller, (this.#errors.get(controller) ?? 0) + 1);
        log.warn('reconcile failed', retry);
      },
    });
  }
}
