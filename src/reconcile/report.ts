/**
 * The report of a reconcile: the conditions and other status fields of the Exposure, and the routes that are no longer used once
 * a move between Edges or hosts is complete. Pure.
 */
import type { Edge } from '../api/edge.ts';
import type { ExposureStatus } from '../api/exposure.ts';
import { isDeletedByUser, previousRoutesFinding } from '../edges/previous-routes.ts';
import type { KubeObject } from '../kube/object.ts';
import type { ManagementContext } from '../management/management-view.ts';
import type { Plan } from '../plan/plan.ts';
import { unenforcedPolicy } from '../plan/tenant-routes.ts';
import type { HopResult } from '../probe/hop.ts';
import {
  conditionFalse,
  withFinding,
  conditionUnknownUntil,
  type ConditionState,
  type ConditionStates,
} from './conditions/condition-state.ts';
import {
  konnectivityState,
  reachableState,
  withTenantHops,
  type KnownHop,
} from './conditions/hop-conditions.ts';
import { isMoveComplete, preparedState, stateBefore } from './conditions/management-conditions.ts';
import { routedState } from './conditions/routed-condition.ts';
import type { AppliedExposure } from './reconcile-exposure.ts';

/** The probe results for the path from clients to the tenant. */
export interface ProbedPath {
  /** The latest known hops for the current spec: from a probe, or from the status before the first probe of this process. */
  readonly hops: readonly KnownHop[];
  /** The hops of the last probe. Absent: this process has not probed the current path yet. */
  readonly probed?: readonly HopResult[] | undefined;
  /** Whether the last probes failed, but not often enough to appear in the hops. */
  readonly isSuspect: boolean;
}

/** A path without probe results. */
export const NOT_PROBED: ProbedPath = { hops: [], isSuspect: false };

/** What a status is computed from. */
export interface ExposureReport {
  readonly conditions: ConditionStates;
  /** Absent, like the plan, if the Exposure could not be resolved. */
  readonly edge?: Edge | undefined;
  readonly plan?: Plan | undefined;
  /** Whether the routes of the plan are applied. If not, the previous ones are still in use. */
  readonly isRouted: boolean;
  /** Absent: there are no new results. */
  readonly hops?: readonly HopResult[] | undefined;
  /** Whether the hops in the status describe the current path. Default: whether the path in the status stays the same. */
  readonly areHopsCurrent?: boolean | undefined;
  /** Absent: as before. */
  readonly proxies?: { readonly ready: number; readonly desired: number } | undefined;
  /** Absent: as before. */
  readonly certificate?: ExposureStatus['certificate'];
}

/** The report of what was applied. `before` is the status before the reconcile. */
export function reportOf(
  applied: AppliedExposure,
  before: ExposureStatus | undefined,
  path: ProbedPath,
  cluster: ManagementContext,
): ExposureReport {
  const { observation, plan, reconciledRoutes, isMoving, tenant } = applied;
  const { probed } = path;
  const hasNewRoutes = reconciledRoutes.isApplied && !reconciledRoutes.isRoutedAsPlanned;
  return {
    conditions: conditionStates(applied, before, path, cluster),
    edge: observation.resolved.edge,
    plan,
    isRouted: plan.management !== undefined && !isMoving,
    hops: withTenantHops(probed, tenant?.hops ?? []),
    // New routes make the hops in the status outdated until the next probe. Probed hops are current even if another client
    // has changed the path in the status.
    areHopsCurrent: probed !== undefined || (hasNewRoutes ? false : undefined),
    proxies: tenant?.proxies,
    certificate: tenant?.certificate,
  };
}

/**
 * Returns the routes of previous Edges and hosts once nothing uses them. Proxies use them until the rollout is complete, and
 * clients until DNS points to the new Edge.
 */
export function unusedRoutes(
  { observation, reconciledRoutes, tenant, preparation }: AppliedExposure,
  { conditions }: Pick<ExposureReport, 'conditions'>,
  { probed, isSuspect }: ProbedPath,
): readonly KubeObject[] {
  if (tenant === undefined || probed === undefined || isSuspect) return [];
  const hops = [...probed, ...tenant.hops];
  if (!isMoveComplete(preparation, conditions, hops)) return [];
  const { edge } = observation.resolved;
  return reconciledRoutes.previous.filter((object) => !isDeletedByUser(object, edge));
}

/** The state of each condition but Ready. */
function conditionStates(
  applied: AppliedExposure,
  before: ExposureStatus | undefined,
  { hops }: ProbedPath,
  cluster: ManagementContext,
): ConditionStates {
  const { observation, plan, accepted, reconciledRoutes, isMoving, tenant } = applied;
  const { exposure, edge } = observation.resolved;
  const isAccepted = accepted.status === 'True';
  const hasRoutes = isAccepted && plan.routes !== undefined;
  const pending = hasRoutes
    ? undefined
    : conditionUnknownUntil(isAccepted ? 'Prepared' : 'Accepted');
  const { obstacle, previous } = reconciledRoutes;
  const { konnectivityPort } = exposure.spec.controlPlane.service ?? {};
  return {
    Accepted: accepted,
    Prepared: preparedCondition(applied, before),
    Routed: withFinding(
      withFinding(
        obstacle ? conditionFalse(obstacle) : (pending ?? routedState(cluster, applied, hops)),
        previousRoutesFinding(previous, edge),
      ),
      unenforcedPolicy(exposure, edge),
    ),
    WorkersReady: pending ?? tenant?.condition ?? workersReadyBefore(applied, before),
    KonnectivityReady: pending ?? konnectivityState(plan, hops, konnectivityPort),
    Reachable: pending ?? reachableState(hops, isMoving ? before?.edgeRef?.name : undefined),
  };
}

/** Returns the previous state if an error of the management cluster interrupted the preparation. */
function preparedCondition(
  { observation, accepted, preparation }: AppliedExposure,
  before: ExposureStatus | undefined,
): ConditionState {
  if (preparation.fault !== undefined) return stateBefore(before, 'Prepared');
  return accepted.status === 'True'
    ? preparedState(observation.reading, preparation.findings)
    : conditionUnknownUntil('Accepted');
}

/** Returns the state of a tenant that this reconcile did not observe. */
function workersReadyBefore(
  { preparation, hasDesiredHosts }: AppliedExposure,
  before: ExposureStatus | undefined,
): ConditionState {
  return preparation.isPrepared || hasDesiredHosts
    ? stateBefore(before, 'WorkersReady')
    : conditionUnknownUntil('Prepared');
}
