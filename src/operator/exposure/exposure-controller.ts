/**
 * Brings one Exposure about: routes in the management cluster, everything else in the tenant's, and a status that says
 * how far that is. Level-based: each run looks at what is there now, and a run that changes nothing writes nothing.
 */
import type { Clock } from '../../clock/clock.ts';
import type { ListenAddress } from '../../net/listen-address.ts';
import type { Applier } from '../../kube/apply/apply.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { EventRecorder } from '../../kube/events/events.ts';
import { parseKey, type KubeObject } from '../../kube/object.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { DependencyIndex } from '../../management/dependency-index.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import type { SecretPoller } from '../management/secret-poller.ts';
import type { MasterKeys } from '../../management/master-keys.ts';
import type { Preparer } from '../../reconcile/preparation/preparer.ts';
import { SecretRenewals } from '../../reconcile/preparation/secret-renewals.ts';
import type { ProbeRounds } from '../probe-rounds.ts';
import type { TenantLink } from '../../reconcile/tenant/link/tenant-link.ts';
import type { TenantLinks } from '../../reconcile/tenant/link/tenant-links.ts';
import type { TenantOwnership } from '../../reconcile/tenant/ownership/tenant-ownership.ts';
import type { RolloutPacer } from '../../reconcile/tenant/rollout-pacing.ts';
import {
  reconcileExposure,
  type ExposureMeans,
  type RequeueAfterMs,
} from '../../reconcile/reconcile-exposure.ts';
import { ExposurePreparations } from '../../reconcile/preparation/exposure-preparations.ts';
import { ExposureProbes } from './exposure-probes.ts';
import { ExposureReports, LEAVING } from './exposure-reports.ts';
import { refused } from '../../reconcile/conditions/management-conditions.ts';
import { FaultReports } from './fault-reports.ts';
import { foreseenWait, leave } from '../../reconcile/clean-up/leave.ts';
import { LeaveTimes } from '../../reconcile/clean-up/leave-times.ts';
import type { Routing } from '../../reconcile/routes/routing.ts';
import { fails } from '../../reconcile/conditions/condition-state.ts';

/** What the controller works with. */
export interface ExposureControllerOptions {
  readonly management: ManagementCluster;
  /** Of the operator. */
  readonly namespace: string;
  readonly routing: Routing;
  readonly preparer: Preparer;
  readonly links: TenantLinks;
  /** One for each tenant's API server. */
  readonly applierFor: (link: TenantLink) => Applier;
  readonly probes: ProbeRounds;
  readonly secrets: SecretPoller;
  readonly dependencies: DependencyIndex;
  readonly events: EventRecorder;
  readonly masterKeys: () => Promise<MasterKeys>;
  readonly log: Logger;
  /** The image of the proxy, for Exposures that name none. */
  readonly proxyImage: string;
  /** Whether the gateway is on this machine. Default: it is in the cluster. */
  readonly isGatewayHere?: boolean | undefined;
  /** Whether it listens there then. Default: that is not known. */
  readonly isGatewayAt?: ((place: ListenAddress) => boolean) | undefined;
  /** How long a deleted Exposure waits for a tenant that cannot be reached. */
  readonly leaveTimeoutMs: number;
  /** How long a provider has to make a Secret anew by itself. Default 20,000. */
  readonly renewAfterMs?: number | undefined;
  /** Of one look at a tenant: one that hangs must not hold up the others. */
  readonly tenantTimeoutMs: number;
  readonly ownership: TenantOwnership;
  /** How often a steady Exposure is looked at nevertheless: not all that is in a tenant is watched. */
  readonly resyncMs: number;
  readonly clock: Clock;
  /** From 0 to 1, for the spread of delays. */
  readonly random: () => number;
  /** The rollouts of all tenants. */
  readonly pacer: RolloutPacer;
}

/** The controller of Exposures. */
export class ExposureController {
  readonly #options: ExposureControllerOptions;
  readonly #reports: ExposureReports;
  /** The keys of the Exposures that this process has reconciled. */
  readonly #known = new Set<string>();
  readonly #leaveTimes: LeaveTimes;
  readonly #faults: FaultReports;
  readonly #renewals: SecretRenewals;
  readonly #aims: ExposureProbes;
  readonly #means: ExposureMeans;

  constructor(options: ExposureControllerOptions) {
    this.#options = options;
    this.#reports = new ExposureReports(options);
    this.#faults = new FaultReports(this.#reports);
    this.#leaveTimes = new LeaveTimes(options.leaveTimeoutMs, options.clock);
    this.#renewals = new SecretRenewals(options);
    this.#aims = new ExposureProbes(options.probes, this.#reports);
    const own = { reports: this.#reports, renewals: this.#renewals };
    const preparations = new ExposurePreparations({ ...options, ...own });
    this.#means = { ...options, reports: this.#reports, aims: this.#aims, preparations };
  }

  /** Whether a change of an Exposure is somebody else's to its status: it has to be put right. */
  hasForeignStatus(object: KubeObject, previous: KubeObject): boolean {
    return this.#reports.isForeign(object, previous);
  }

  /** @throws OutdatedError if the Exposure has changed meanwhile; KubeError for what should be tried again soon. */
  async reconcile(key: string, signal: AbortSignal): Promise<RequeueAfterMs> {
    const { management, pacer } = this.#options;
    const exists = () => management.exposures.get(parseKey(key)) !== undefined;
    try {
      const requeueAfterMs = await this.#reconcile(key, signal);
      if (exists()) pacer.reconciled(key);
      return requeueAfterMs;
    } catch (error) {
      if (exists()) pacer.interrupted(key);
      throw error;
    }
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<RequeueAfterMs> {
    const { management, routing, probes, secrets, dependencies, pacer } = this.#options;
    const object = management.exposures.get(parseKey(key));
    if (object === undefined) {
      // Deleted without its cleanup, and its objects orphaned. An Exposure that a restore has yet to bring was never known.
      this.#forget(key);
      this.#reports.forget(key);
      if (this.#known.has(key)) await routing.removeTenantRoutes(key, signal);
      this.#known.delete(key);
      return undefined;
    }
    this.#known.add(key);
    this.#reports.assertCurrent(object);
    if (object.metadata.deletionTimestamp !== undefined) {
      probes.forget(key);
      pacer.forget(key);
      return this.#faults.telling(object, async () => this.#leave(key, object, signal), signal);
    }
    const { value: wish, finding } = management.book.resolve(object);
    if (wish === undefined) {
      probes.forget(key);
      secrets.forget(key);
      dependencies.delete(key);
      await this.#reports.report(
        object,
        { isRouted: false, conditions: refused(fails(finding)) },
        signal,
      );
      return undefined;
    }
    const work = async () => reconcileExposure({ key, object, wish }, this.#means, signal);
    return this.#faults.telling(object, work, signal);
  }

  async #leave(key: string, object: KubeObject, signal: AbortSignal): Promise<RequeueAfterMs> {
    const means = {
      ...this.#options,
      reports: this.#reports,
      leaveTimes: this.#leaveTimes,
      renewals: this.#renewals,
    };
    if (findCondition(this.#reports.statusOf(object)?.conditions, 'Ready')?.reason !== LEAVING) {
      const wait = foreseenWait(this.#reports.latest(object), means);
      if (wait !== undefined) await this.#reports.reportLeaving(object, wait, signal);
    }
    // Before cleanup removes the record: Exposures that wait for the control plane are reconciled once the watch reports it.
    this.#options.preparer.forget(key);
    const leaving = await leave(this.#reports.latest(object), means, signal);
    if (leaving === undefined) this.#forget(key);
    else await this.#reports.reportLeaving(object, leaving.because, signal);
    return leaving?.requeueAfterMs;
  }

  /** Not the reports, until the watch delivers the deletion: by them a reconcile before that finds the finalizers gone. */
  #forget(key: string): void {
    this.#options.links.forget(key);
    this.#options.ownership.forget(key);
    this.#options.pacer.forget(key);
    this.#options.probes.forget(key);
    this.#options.secrets.forget(key);
    this.#options.dependencies.delete(key);
    this.#faults.forget(key);
    this.#leaveTimes.forget(key);
    this.#renewals.forget(key);
    this.#options.preparer.forget(key);
    this.#aims.forget(key);
  }
}
