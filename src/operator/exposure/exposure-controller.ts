/**
 * Reconciles Exposures and reports their status. Level-based: each reconcile observes the current state, and one that finds
 * nothing to change writes nothing.
 */
import type { ListenAddress } from '../../net/listen-address.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { EventRecorder } from '../../kube/events/events.ts';
import { parseKey, type KubeObject } from '../../kube/object.ts';
import type { DependencyIndex } from '../../management/dependency-index.ts';
import type { ResolvedExposure } from '../../management/exposure-index.ts';
import {
  cleanUpExposure,
  expectedWait,
  type CleanupDeps,
} from '../../reconcile/clean-up/clean-up-exposure.ts';
import { fails } from '../../reconcile/conditions/condition-state.ts';
import { refused, startingForMs } from '../../reconcile/conditions/management-conditions.ts';
import { StepFailed } from '../../reconcile/management-fault.ts';
import { ExposurePreparations } from '../../reconcile/preparation/exposure-preparations.ts';
import type { Preparer } from '../../reconcile/preparation/preparer.ts';
import { SecretRenewals } from '../../reconcile/preparation/secret-renewals.ts';
import { reconcileExposure, type ReconcileDeps } from '../../reconcile/reconcile-exposure.ts';
import { requeueAfterMs, soonest, type RequeueAfterMs } from '../../reconcile/requeue.ts';
import type { Routing } from '../../reconcile/routes/routing.ts';
import type { TenantLinks } from '../../reconcile/tenant/link/tenant-links.ts';
import type { TenantDeps } from '../../reconcile/tenant/reconcile-tenant.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import type { SecretPoller } from '../management/secret-poller.ts';
import type { ProbeScheduler } from '../probe-scheduler.ts';
import { ExposureProbes } from './exposure-probes.ts';
import { ExposureReports, CLEANING_UP } from './exposure-reports.ts';
import { ExposureState, type ExposureMemory } from './exposure-state.ts';
import { withErrorReporting } from './error-reporting.ts';

/** Options of an {@link ExposureController}. */
export interface ExposureControllerOptions extends TenantDeps {
  readonly management: ManagementCluster;
  /** The namespace of the operator. */
  readonly namespace: string;
  readonly routing: Routing;
  readonly preparer: Preparer;
  readonly links: TenantLinks;
  readonly probes: ProbeScheduler;
  readonly secrets: SecretPoller;
  readonly dependencies: DependencyIndex;
  readonly events: EventRecorder;
  /** The image of the proxy, for Exposures without spec.worker.image. */
  readonly proxyImage: string;
  /** Whether the gateway runs on this machine. Default: in the cluster. */
  readonly isGatewayHere?: boolean | undefined;
  /** Whether the gateway on this machine listens at an address. Default: that is unknown. */
  readonly isGatewayAt?: ((address: ListenAddress) => boolean) | undefined;
  /** How long a deleted Exposure waits for a tenant that cannot be reached. */
  readonly cleanupTimeoutMs: number;
  /** The time for a provider to recreate a Secret by itself. Default: 20,000. */
  readonly renewAfterMs?: number | undefined;
  /** The delay before an Exposure is reconciled again without an event, since not everything in a tenant is watched. */
  readonly resyncMs: (exposure: string) => number;
}

/** The controller of Exposures. */
export class ExposureController {
  readonly #options: ExposureControllerOptions;
  readonly #reports: ExposureReports;
  /** The state of the Exposures that this process has reconciled, by key. */
  readonly #states = new Map<string, ExposureState>();
  readonly #deps: ReconcileDeps;
  readonly #cleanup: CleanupDeps;
  readonly #memory: ExposureMemory;

  constructor(options: ExposureControllerOptions) {
    this.#options = options;
    const { management, routing, preparer, events, namespace, proxyImage, clock } = options;
    const { links, ownership, pacer, secrets, dependencies, cleanupTimeoutMs } = options;
    const versions = new ExposureReports(options);
    this.#reports = versions;
    this.#memory = {
      dependencies,
      links,
      ownership,
      pacer,
      preparer,
      probes: new ExposureProbes(options.probes, versions),
      reports: versions,
      secrets,
      cleanupTimeoutMs,
      clock,
    };
    const renewals = new SecretRenewals(options);
    this.#deps = {
      management,
      routing,
      preparations: new ExposurePreparations({ management, preparer, renewals, events, versions }),
      versions,
      tenants: options,
      namespace,
      proxyImage,
      isGatewayHere: options.isGatewayHere,
      isGatewayAt: options.isGatewayAt,
      clock,
    };
    this.#cleanup = {
      management,
      routing,
      versions,
      renewals,
      links,
      ownership,
      events,
      proxyImage,
      log: options.log,
      cleanupTimeoutMs,
      tenantTimeoutMs: options.tenantTimeoutMs,
      clock,
    };
  }

  /** Reports whether another client has changed the status of an Exposure, which is then written again. */
  hasForeignStatus(object: KubeObject, previous: KubeObject): boolean {
    return this.#reports.isForeign(object, previous);
  }

  /** Reports whether the Exposure was Ready in the last report. */
  isReady(key: string): boolean {
    const object = this.#options.management.exposures.get(parseKey(key));
    const conditions = object && this.#reports.statusOf(object)?.conditions;
    return findCondition(conditions, 'Ready')?.status === 'True';
  }

  /** Resets all polling periods of an Exposure to the shortest, because of an event. */
  hasten(key: string): void {
    this.#states.get(key)?.polls.reset();
  }

  /** Reconciles an Exposure. @throws OutdatedError if the Exposure has changed meanwhile; KubeError for an error to retry */
  async reconcile(key: string, signal: AbortSignal): Promise<RequeueAfterMs> {
    const { management, pacer } = this.#options;
    const exists = () => management.exposures.get(parseKey(key)) !== undefined;
    try {
      const afterMs = await this.#reconcile(key, signal);
      if (exists()) pacer.reconciled(key);
      return afterMs;
    } catch (error) {
      if (exists()) pacer.interrupted(key);
      throw error;
    }
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<RequeueAfterMs> {
    const { management } = this.#options;
    const object = management.exposures.get(parseKey(key));
    if (object === undefined) return this.#removeOrphans(key, signal);
    const state = this.#stateOf(key, object);
    this.#reports.assertCurrent(object);
    if (object.metadata.deletionTimestamp !== undefined) {
      state.rest('Terminating');
      const work = async () => this.#cleanUp(state, object, signal);
      return withErrorReporting(object, state, this.#reports, work, signal);
    }
    const { value: resolved, finding } = management.exposureIndex.resolve(object);
    if (resolved === undefined) {
      state.rest('Refused');
      const conditions = refused(fails(finding));
      await this.#reports.report(object, state, { isRouted: false, conditions }, signal);
      return undefined;
    }
    const work = async () => this.#reconcileResolved(key, state, object, resolved, signal);
    return withErrorReporting(object, state, this.#reports, work, signal);
  }

  #stateOf(key: string, { metadata: { uid } }: KubeObject): ExposureState {
    const known = this.#states.get(key);
    if (known?.uid === uid && known) return known;
    // A recreated Exposure does not inherit the timers and failures of the deleted Exposure with the same name.
    const state = new ExposureState(key, uid, this.#memory);
    this.#states.set(key, state);
    return state;
  }

  /** Reconciles, and writes the status. @throws StepFailed, KubeError */
  async #reconcileResolved(
    key: string,
    state: ExposureState,
    object: KubeObject,
    resolved: ResolvedExposure,
    signal: AbortSignal,
  ): Promise<RequeueAfterMs> {
    const reconciled = await reconcileExposure(object, resolved, this.#deps, state, signal);
    if (reconciled === undefined) return undefined;
    const { observation, tenant, accepted, preparation, report } = reconciled;
    const afterMs = requeueAfterMs(reconciled, this.#options.resyncMs(key), state.polls);
    if (tenant !== undefined && preparation.fault === undefined) {
      const before = this.#reports.statusOf(object);
      const startingMs = startingForMs(before, tenant, this.#options.clock.now());
      if (startingMs > 0) return soonest(afterMs, startingMs);
    }
    await this.#reports.report(observation.object, state, report, signal);
    if (tenant === undefined) return accepted.status === 'True' ? afterMs : undefined;
    if (preparation.fault !== undefined) throw new StepFailed('Prepared', preparation.fault);
    return soonest(afterMs, this.#reports.reportDelayMs(state));
  }

  /** The Exposure was deleted without cleanup. One that a restore has yet to create was never known. @throws KubeError */
  async #removeOrphans(key: string, signal: AbortSignal): Promise<undefined> {
    const state = this.#states.get(key);
    if (state === undefined) return;
    state.end();
    await this.#options.routing.removeTenantRoutes(key, signal);
    this.#states.delete(key);
  }

  async #cleanUp(
    state: ExposureState,
    object: KubeObject,
    signal: AbortSignal,
  ): Promise<RequeueAfterMs> {
    const reports = this.#reports;
    if (findCondition(reports.statusOf(object)?.conditions, 'Ready')?.reason !== CLEANING_UP) {
      const wait = expectedWait(reports.latest(object), state);
      if (wait !== undefined) await reports.reportCleanup(object, state, wait, signal);
    }
    const wait = await cleanUpExposure(reports.latest(object), this.#cleanup, state, signal);
    if (wait === undefined) state.rest('CleanedUp');
    else await reports.reportCleanup(object, state, wait.because, signal);
    return wait && soonest(state.polls.delayMs([wait.poll]), wait.leftMs + 1);
  }
}
