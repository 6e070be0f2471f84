/**
 * One reconcile of an Exposure: observe, plan, apply, report. The tenant is observed and planned as part of apply, once its
 * routes and control plane are as planned.
 *
 * Every client is an argument. With clients that record, the same code previews what it would write.
 */
import type { ExposureStatus } from '../api/exposure.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Dependency } from '../management/dependency-index.ts';
import type { ResolvedExposure } from '../management/exposure-index.ts';
import type { ManagementAccess } from '../management/management-view.ts';
import { planExposure, type Plan } from '../plan/plan.ts';
import type { ConditionState } from './conditions/condition-state.ts';
import { acceptedState, isInUse } from './conditions/management-conditions.ts';
import { holdExposure, ROUTES_FINALIZER, type ExposureVersions } from './finalizers.ts';
import { step } from './management-fault.ts';
import { observeExposure, type Observation, type ObserveDeps } from './observe.ts';
import {
  NOTHING_TO_PREPARE,
  type ExposurePreparation,
  type ExposurePreparations,
} from './preparation/exposure-preparations.ts';
import type { StaleSecrets } from './preparation/secret-renewals.ts';
import { reportOf, unusedRoutes, type ExposureReport, type ProbedPath } from './report.ts';
import type { Routed, Routing } from './routes/routing.ts';
import { reconcileTenant, type TenantDeps } from './tenant/reconcile-tenant.ts';
import type { TenantOutcome } from './tenant/tenant-outcome.ts';

/** What a reconcile reads and writes with. */
export interface ReconcileDeps extends ObserveDeps {
  readonly management: ManagementAccess;
  readonly routing: Routing;
  readonly preparations: ExposurePreparations;
  readonly versions: ExposureVersions & {
    /** The status, with own writes that the watch has not reported yet. */
    statusOf(object: KubeObject): ExposureStatus | undefined;
  };
  /** Absent: tenants are left alone. */
  readonly tenants?: TenantDeps | undefined;
}

/** What the caller keeps track of between two reconciles of an Exposure. */
export interface ExposureTracker {
  /** The Secrets of its provider that were out of date. */
  readonly staleSecrets: StaleSecrets;
  /** Called before the object is read: an event that arrives after the read must find the Exposure. */
  dependsOn(dependency: Dependency): void;
  observed(observation: Observation): void;
  /** Clients reach the tenant by the routes of this plan from now on. */
  routed(observation: Observation, plan: Plan): void;
  /** What probes found until now. */
  probedPath(observation: Observation, plan: Plan): ProbedPath;
}

/** What a reconcile observed, planned and applied. */
export interface AppliedExposure {
  readonly observation: Observation;
  /** As far as it can be made without the tenant. */
  readonly plan: Plan;
  readonly accepted: ConditionState;
  readonly routed: Routed;
  /** Whether another Edge than the one of the spec serves the Exposure, because that one accepts no routes yet. */
  readonly isMoving: boolean;
  /** Whether the tenant uses Snicket already. */
  readonly isInUse: boolean;
  readonly preparation: ExposurePreparation;
  /** Absent: nothing was done in the tenant. */
  readonly tenant?: TenantOutcome | undefined;
}

/** The result of a reconcile. */
export interface Reconciled extends AppliedExposure {
  readonly report: ExposureReport;
}

/** Reconciles as far as possible now. Undefined if the Exposure is being deleted. @throws StepFailed, OutdatedError, KubeError */
export async function reconcileExposure(
  object: KubeObject,
  resolved: ResolvedExposure,
  deps: ReconcileDeps,
  tracker: ExposureTracker,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const observation = await step('Prepared', async () =>
    observeExposure(object, resolved, deps, signal, (one) => tracker.dependsOn(one)),
  );
  tracker.observed(observation);
  const plan = planExposure(resolved, observation.facts);
  const applied = await applyPlan(observation, plan, deps, tracker, signal);
  if (applied === undefined) return undefined;

  const before = deps.versions.statusOf(observation.object);
  const path = tracker.probedPath(observation, plan);
  const report = reportOf(applied, { before, path }, deps);
  const unused = unusedRoutes(applied, report, path);
  if (unused.length === 0) return { ...applied, report };
  await step('Routed', async () => deps.routing.remove(unused, signal));
  const moved = { ...applied, routed: { ...applied.routed, previous: [] } };
  return { ...moved, report: reportOf(moved, { before, path }, deps) };
}

/** Applies routes, preparation and tenant, as far as possible. Undefined if the Exposure is being deleted. */
async function applyPlan(
  observation: Observation,
  plan: Plan,
  deps: ReconcileDeps,
  tracker: ExposureTracker,
  signal: AbortSignal,
): Promise<AppliedExposure | undefined> {
  const routed = await step('Routed', async () => applyRoutes(observation, plan, deps, signal));
  if (routed === undefined) return undefined;
  const isMoving = !routed.isApplied && routed.isElsewhere;
  if (!isMoving) tracker.routed(observation, plan);

  const accepted = acceptedState(plan);
  const inUse = isInUse(deps.versions.latest(observation.object), plan, routed);
  const { staleSecrets } = tracker;
  // During a move, proxies and clients use the hosts that the control plane has now.
  const preparation =
    accepted.status === 'True' && !isMoving
      ? await deps.preparations.prepare(observation, plan, { inUse, staleSecrets }, signal)
      : NOTHING_TO_PREPARE;
  if (preparation === undefined) return undefined;

  const applied = { observation, plan, accepted, routed, isMoving, isInUse: inUse, preparation };
  const { tenants } = deps;
  if (tenants === undefined || !canServe(applied)) return applied;
  const tenant = await step('WorkersReady', async () =>
    reconcileTenant(observation, plan, tenants, deps, signal),
  );
  return { ...applied, tenant };
}

/** Undefined if the Exposure is being deleted. @throws OutdatedError, KubeError */
async function applyRoutes(
  { object, resolved }: Observation,
  plan: Plan,
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<Routed | undefined> {
  const writesRoutes = plan.management !== undefined && plan.management.length > 0;
  if (writesRoutes && !(await holdExposure(deps, object, ROUTES_FINALIZER, signal))) {
    return undefined;
  }
  return deps.routing.reconcile(resolved, plan, signal);
}

/**
 * Whether the tenant can be served. During a move it stays as it is until the new Edge accepts routes. An API server that was
 * never prepared would overwrite the endpoints of the proxies again and again.
 */
function canServe({ plan, isMoving, isInUse: inUse, preparation }: AppliedExposure): boolean {
  return !isMoving && plan.routes !== undefined && (preparation.isPrepared || inUse);
}
