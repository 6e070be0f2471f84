/**
 * One reconcile of an Exposure: observe, plan, apply, report. Apply starts with the routes and the control plane. Only then does
 * it observe, plan and apply the objects in the tenant.
 */
import type { KubeObject } from '../kube/object.ts';
import type { Dependency } from '../management/dependency-index.ts';
import type { ResolvedExposure } from '../management/exposure-index.ts';
import { planExposure, type Plan } from '../plan/plan.ts';
import type { ConditionState } from './conditions/condition-state.ts';
import { acceptedState, usesDesiredHosts } from './conditions/management-conditions.ts';
import { addExposureFinalizer, ROUTES_FINALIZER } from './finalizers.ts';
import { step } from './management-fault.ts';
import { observeExposure, type Observation } from './observe.ts';
import {
  NOTHING_TO_PREPARE,
  prepareExposure,
  type ExposurePreparation,
} from './preparation/prepare-exposure.ts';
import type { StaleSecrets } from './preparation/secret-renewals.ts';
import type { ReconcileDeps } from './reconcile-deps.ts';
import { reportOf, unusedRoutes, type ExposureReport, type ProbedPath } from './report.ts';
import { reconcileRoutes, removeRoutes, type ReconciledRoutes } from './routes/reconcile-routes.ts';
import { reconcileTenant } from './tenant/reconcile-tenant.ts';
import type { TenantOutcome } from './tenant/tenant-outcome.ts';

/** What the caller remembers of an Exposure between two reconciles. */
export interface ExposureTracker {
  /** The outdated Secrets of its provider, as of the last reconcile. */
  readonly staleSecrets: StaleSecrets;
  /** Called before the object is read, so that an event after the read enqueues the Exposure. */
  dependsOn(dependency: Dependency): void;
  observed(observation: Observation): void;
  /** Called once the routes of the plan serve the clients of the tenant. */
  routed(observation: Observation, plan: Plan): void;
  /** Returns the latest probe results. */
  probedPath(observation: Observation, plan: Plan): ProbedPath;
}

/** What a reconcile observed, planned and applied. */
export interface AppliedExposure {
  readonly observation: Observation;
  /** The part of the plan that does not depend on the tenant. */
  readonly plan: Plan;
  readonly accepted: ConditionState;
  readonly reconciledRoutes: ReconciledRoutes;
  /** Whether a previous Edge still serves the Exposure, because the Edge of the spec does not accept routes yet. */
  readonly isMoving: boolean;
  /** Whether the tenant already uses the desired hosts. */
  readonly hasDesiredHosts: boolean;
  readonly preparation: ExposurePreparation;
  /** Absent: nothing was done in the tenant. */
  readonly tenant?: TenantOutcome | undefined;
}

/** The result of a reconcile. */
export interface Reconciled extends AppliedExposure {
  readonly report: ExposureReport;
}

/**
 * Applies everything that can be applied now, and reports the rest as conditions. Undefined if the Exposure is being deleted.
 *
 * @throws StepFailed, OutdatedError, KubeError
 */
export async function reconcileExposure(
  object: KubeObject,
  resolved: ResolvedExposure,
  deps: ReconcileDeps,
  tracker: ExposureTracker,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const observation = await step('Prepared', async () =>
    observeExposure(object, resolved, deps, signal, (dependency) => tracker.dependsOn(dependency)),
  );
  tracker.observed(observation);
  const plan = planExposure(resolved, observation.facts);
  const applied = await applyPlan(observation, plan, deps, tracker, signal);
  if (applied === undefined) return undefined;

  const before = deps.statuses.statusOf(observation.object);
  const path = tracker.probedPath(observation, plan);
  const report = reportOf(applied, before, path, deps);
  const unused = unusedRoutes(applied, report, path);
  if (unused.length === 0) return { ...applied, report };
  await step('Routed', async () => removeRoutes(unused, deps, signal));
  const previous = applied.reconciledRoutes.previous.filter((object) => !unused.includes(object));
  const completed = { ...applied, reconciledRoutes: { ...applied.reconciledRoutes, previous } };
  return { ...completed, report: reportOf(completed, before, path, deps) };
}

/** Applies routes, preparation and tenant, as far as possible. Undefined if the Exposure is being deleted. */
async function applyPlan(
  observation: Observation,
  plan: Plan,
  deps: ReconcileDeps,
  tracker: ExposureTracker,
  signal: AbortSignal,
): Promise<AppliedExposure | undefined> {
  const reconciledRoutes = await step('Routed', async () =>
    applyRoutes(observation, plan, deps, signal),
  );
  if (reconciledRoutes === undefined) return undefined;
  const isMoving = !reconciledRoutes.isApplied && reconciledRoutes.isElsewhere;
  if (!isMoving) tracker.routed(observation, plan);

  const accepted = acceptedState(plan);
  const latest = deps.statuses.latest(observation.object);
  const hasDesiredHosts = usesDesiredHosts(latest, plan, reconciledRoutes);
  const { staleSecrets } = tracker;
  // During a move, the control plane keeps its current hosts, because proxies and clients still use them.
  const preparation =
    accepted.status === 'True' && !isMoving
      ? await prepareExposure(observation, plan, { hasDesiredHosts, staleSecrets }, deps, signal)
      : NOTHING_TO_PREPARE;
  if (preparation === undefined) return undefined;

  const applied = {
    observation,
    plan,
    accepted,
    reconciledRoutes,
    isMoving,
    hasDesiredHosts,
    preparation,
  };
  if (!deps.readsTenants || !shouldReconcileTenant(applied)) return applied;
  const tenant = await step('WorkersReady', async () =>
    reconcileTenant(observation, plan, deps, signal),
  );
  return { ...applied, tenant };
}

/** Undefined if the Exposure is being deleted. @throws OutdatedError, KubeError */
async function applyRoutes(
  { object, resolved }: Observation,
  plan: Plan,
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<ReconciledRoutes | undefined> {
  const writesRoutes = plan.management !== undefined && plan.management.length > 0;
  if (writesRoutes && !(await addExposureFinalizer(deps, object, ROUTES_FINALIZER, signal))) {
    return undefined;
  }
  return reconcileRoutes(resolved, plan, deps, signal);
}

/**
 * Whether to reconcile the tenant. During a move, the tenant stays unchanged until the new Edge accepts routes. Before its
 * preparation, the API server would keep overwriting the endpoints that point to the proxies.
 */
function shouldReconcileTenant(applied: AppliedExposure): boolean {
  const { plan, isMoving, hasDesiredHosts, preparation } = applied;
  return !isMoving && plan.routes !== undefined && (preparation.isPrepared || hasDesiredHosts);
}
