/**
 * Reconciles Exposures and reports their status. Level-based: each reconcile observes the current state, and one that finds
 * nothing to change writes nothing.
 */
import { findingText } from '../../api/finding.ts';
import { findCondition } from '../../kube/conditions.ts';
import { isKubeError, type KubeError } from '../../kube/kube-error.ts';
import { parseKey, type KubeObject } from '../../kube/object.ts';
import { OutdatedError } from '../../kube/outdated-error.ts';
import type { DependencyIndex } from '../../management/dependency-index.ts';
import type { ResolvedExposure } from '../../management/exposure-index.ts';
import { cleanUpExposure, expectedWait } from '../../reconcile/clean-up/clean-up-exposure.ts';
import {
  conditionFalse,
  type PartialCondition,
} from '../../reconcile/conditions/condition-state.ts';
import {
  faultStates,
  refused,
  startingForMs,
} from '../../reconcile/conditions/management-conditions.ts';
import { managementFault, shouldReport, StepFailed } from '../../reconcile/management-fault.ts';
import type { ReconcileDeps } from '../../reconcile/reconcile-deps.ts';
import { reconcileExposure } from '../../reconcile/reconcile-exposure.ts';
import { requeueAfterMs, soonest, type RequeueAfterMs } from '../../reconcile/requeue.ts';
import { removeTenantRoutes } from '../../reconcile/routes/reconcile-routes.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import type { SecretPoller } from '../management/secret-poller.ts';
import type { ExposureProbes } from './exposure-probes.ts';
import { CLEANING_UP, type ExposureReports } from './exposure-reports.ts';
import { ExposureState } from './exposure-state.ts';
import type { ResyncLimits } from './resync-period.ts';

/** What an {@link ExposureController} works with. */
export interface ExposureControllerDeps extends ReconcileDeps {
  readonly management: ManagementCluster;
  readonly reports: ExposureReports;
  readonly probes: ExposureProbes;
  readonly secrets: SecretPoller;
  readonly dependencies: DependencyIndex;
  /** How long an Exposure waits for a full reconcile without an event, since not everything in a tenant is watched. */
  readonly resyncLimits: ResyncLimits;
}

/** The controller of Exposures. */
export class ExposureController {
  readonly #deps: ExposureControllerDeps;
  /** The state of the Exposures that this process has reconciled, by key. */
  readonly #states = new Map<string, ExposureState>();

  constructor(deps: ExposureControllerDeps) {
    this.#deps = deps;
  }

  /** Shortens the time to the next full reconcile of an Exposure, because of an event. */
  resetResync(key: string): void {
    this.#states.get(key)?.resync.reset();
  }

  /** Resets all periods of an Exposure to the shortest, because of an event. */
  hasten(key: string): void {
    this.resetResync(key);
    this.#states.get(key)?.polls.reset();
  }

  /**
   * Reconciles an Exposure, and returns when to do so again. The delay grows while it is Ready and nothing is written or pending.
   *
   * @throws OutdatedError if the Exposure has changed meanwhile; KubeError for an error to retry
   */
  async reconcile(key: string, signal: AbortSignal): Promise<RequeueAfterMs> {
    const { management, pacer, links } = this.#deps;
    const object = management.exposures.get(parseKey(key));
    if (object === undefined) return this.#removeOrphans(key, signal);
    const state = this.#stateOf(key, object);
    const { resync } = state;
    const link = links.current(key);
    const before = { periodMs: resync.ms, writes: link?.writes };
    const exists = () => management.exposures.get(object.metadata) !== undefined;
    try {
      const afterMs = await this.#reconcile(key, state, object, signal);
      if (exists()) pacer.reconciled(key);
      const isSteady =
        afterMs === before.periodMs &&
        resync.ms === before.periodMs &&
        link !== undefined &&
        links.current(key) === link &&
        link.writes === before.writes &&
        links.failuresOf(key) === 0 &&
        this.#isReady(key);
      if (isSteady) resync.lengthen();
      else resync.reset();
      return isSteady ? afterMs : afterMs && Math.min(afterMs, resync.ms);
    } catch (error) {
      resync.reset();
      if (exists()) pacer.interrupted(key);
      throw error;
    }
  }

  /** Reports whether the Exposure was Ready in the last report. */
  #isReady(key: string): boolean {
    const object = this.#deps.management.exposures.get(parseKey(key));
    const conditions = object && this.#deps.statuses.statusOf(object)?.conditions;
    return findCondition(conditions, 'Ready')?.status === 'True';
  }

  async #reconcile(
    key: string,
    state: ExposureState,
    object: KubeObject,
    signal: AbortSignal,
  ): Promise<RequeueAfterMs> {
    this.#deps.statuses.assertCurrent(object);
    if (object.metadata.deletionTimestamp !== undefined) {
      state.rest('Terminating');
      const cleanUp = async () => this.#cleanUp(state, object, signal);
      return this.#withErrorReporting(object, state, cleanUp, signal);
    }
    const { value: resolved, finding } = this.#deps.management.exposureIndex.resolve(object);
    if (resolved === undefined) {
      state.rest('Refused');
      const conditions = refused(conditionFalse(finding));
      await this.#deps.reports.report(object, state, { isRouted: false, conditions }, signal);
      return undefined;
    }
    const reconcile = async () => this.#reconcileResolved(state, object, resolved, signal);
    return this.#withErrorReporting(object, state, reconcile, signal);
  }

  #stateOf(key: string, { metadata: { uid } }: KubeObject): ExposureState {
    const known = this.#states.get(key);
    if (known?.uid === uid && known) return known;
    // A recreated Exposure does not inherit the timers and failures of the deleted Exposure with the same name.
    const state = new ExposureState(key, uid, this.#deps);
    this.#states.set(key, state);
    return state;
  }

  /** Reconciles, and writes the status. @throws StepFailed, KubeError */
  async #reconcileResolved(
    state: ExposureState,
    object: KubeObject,
    resolved: ResolvedExposure,
    signal: AbortSignal,
  ): Promise<RequeueAfterMs> {
    const reconciled = await reconcileExposure(object, resolved, this.#deps, state, signal);
    if (reconciled === undefined) return undefined;
    const { observation, tenant, accepted, preparation, report } = reconciled;
    const afterMs = requeueAfterMs(reconciled, state.resync.ms, state.polls);
    if (tenant !== undefined && preparation.fault === undefined) {
      const before = this.#deps.statuses.statusOf(object);
      const startingMs = startingForMs(before, tenant, this.#deps.clock.now());
      if (startingMs > 0) return soonest(afterMs, startingMs);
    }
    await this.#deps.reports.report(observation.object, state, report, signal);
    if (tenant === undefined) return accepted.status === 'True' ? afterMs : undefined;
    if (preparation.fault !== undefined) throw new StepFailed('Prepared', preparation.fault);
    return soonest(afterMs, this.#deps.reports.reportDelayMs(state));
  }

  /** The Exposure was deleted without cleanup. One that a restore has yet to create was never known. @throws KubeError */
  async #removeOrphans(key: string, signal: AbortSignal): Promise<undefined> {
    const state = this.#states.get(key);
    if (state === undefined) return;
    state.end();
    await removeTenantRoutes(key, this.#deps, signal);
    this.#states.delete(key);
  }

  async #cleanUp(
    state: ExposureState,
    object: KubeObject,
    signal: AbortSignal,
  ): Promise<RequeueAfterMs> {
    const { statuses, reports } = this.#deps;
    if (findCondition(statuses.statusOf(object)?.conditions, 'Ready')?.reason !== CLEANING_UP) {
      const wait = expectedWait(statuses.latest(object), state);
      if (wait !== undefined) await reports.reportCleanup(object, state, wait, signal);
    }
    const wait = await cleanUpExposure(statuses.latest(object), this.#deps, state, signal);
    if (wait === undefined) state.rest('CleanedUp');
    else await reports.reportCleanup(object, state, wait.because, signal);
    return wait && soonest(state.polls.delayMs([wait.poll]), wait.leftMs + 1);
  }
  /**
   * Runs a reconcile, and reports what prevents it: the previous status would be wrong, and an empty one says nothing.
   * @throws what it throws, the cause of a StepFailed
   */
  async #withErrorReporting<T>(
    object: KubeObject,
    state: ExposureState,
    reconcile: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    try {
      const result = await reconcile();
      state.failures = 0;
      return result;
    } catch (error) {
      const cause: unknown = error instanceof StepFailed ? error.cause : error;
      // Not a fault: the next reconcile decides from the current version.
      if (cause instanceof OutdatedError) throw cause;
      if (!signal.aborted && isKubeError(cause) && shouldReport(cause, ++state.failures)) {
        const step = error instanceof StepFailed ? error.step : undefined;
        await this.#reportFault(object, state, cause, step, signal).catch((failure: unknown) => {
          // The cause matters more, and is reported the next time.
          if (!isKubeError(failure)) throw failure;
        });
      }
      throw cause;
    }
  }

  async #reportFault(
    object: KubeObject,
    state: ExposureState,
    cause: KubeError,
    step: PartialCondition | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const finding = managementFault(cause);
    const { generation = 0, deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined) {
      await this.#deps.reports.reportCleanup(object, state, findingText(finding), signal);
    } else if (step !== undefined) {
      const before = this.#deps.statuses.statusOf(object);
      const conditions = faultStates(before, generation, step, conditionFalse(finding));
      await this.#deps.reports.report(object, state, { isRouted: false, conditions }, signal);
    }
  }
}
