/**
 * The report of a reconcile: the conditions of the Exposure and what else its status says, and whether a move between Edges or
 * hosts is complete. Pure.
 */
import type { Edge } from '../api/edge.ts';
import type { ExposureStatus } from '../api/exposure.ts';
import { previousRoutesFinding } from '../edges/previous-routes.ts';
import type { KubeObject } from '../kube/object.ts';
import type { ManagementContext } from '../management/management-view.ts';
import type { Plan } from '../plan/plan.ts';
import { unenforcedPolicy } from '../plan/tenant-routes.ts';
import type { HopResult } from '../probe/hop.ts';
import {
  fails,
  noting,
  notYet,
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

/** What probes found about the path of clients. */
export interface ProbedPath {
  /** For the current spec, by this process or a previous one. */
  readonly hops: readonly KnownHop[];
  /** By this process for the current path. Absent: it has not been probed yet. */
  readonly probed?: readonly HopResult[] | undefined;
  /** Whether the last probes failed, and the failure is not part of the results yet. */
  readonly isSuspect: boolean;
}

/** Nothing is probed. */
export const NOT_PROBED: ProbedPath = { hops: [], isSuspect: false };

/** What a report depends on besides the result of the reconcile. */
export interface ReportInput {
  /** The status before the reconcile. */
  readonly before: ExposureStatus | undefined;
  readonly path: ProbedPath;
}

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
  /** Whether the previous hops are about the current path. Default: if the path is the same. */
  readonly areHopsCurrent?: boolean | undefined;
  /** Absent: as before. */
  readonly proxies?: { readonly ready: number; readonly desired: number } | undefined;
  /** Absent: as before. */
  readonly certificate?: ExposureStatus['certificate'];
}

/** The report of what was applied. */
export function reportOf(
  applied: AppliedExposure,
  input: ReportInput,
  cluster: ManagementContext,
): ExposureReport {
  const { observation, plan, routed, isMoving, tenant } = applied;
  const { probed } = input.path;
  const hasNewRoutes = routed.isApplied && !routed.isRoutedAsPlanned;
  return {
    conditions: conditionStates(applied, input, cluster),
    edge: observation.resolved.edge,
    plan,
    isRouted: plan.management !== undefined && !isMoving,
    hops: withTenantHops(probed, tenant?.hops ?? []),
    // Hops of other hosts are not current. If another client changed the status, the probed hops still are.
    areHopsCurrent: probed !== undefined || (hasNewRoutes ? false : undefined),
    proxies: tenant?.proxies,
    certificate: tenant?.certificate,
  };
}

/**
 * The routes of previous Edges and hosts, once they are no longer used: proxies use them until they are rolled out, clients until
 * DNS points to the new Edge.
 */
export function unusedRoutes(
  { routed, tenant, preparation }: AppliedExposure,
  { conditions }: Pick<ExposureReport, 'conditions'>,
  { probed, isSuspect }: ProbedPath,
): readonly KubeObject[] {
  if (tenant === undefined || probed === undefined || isSuspect) return [];
  const hops = [...probed, ...tenant.hops];
  return isMoveComplete(preparation, conditions, hops) ? routed.previous : [];
}

/** The state of each condition but Ready. */
function conditionStates(
  applied: AppliedExposure,
  { before, path: { hops } }: ReportInput,
  cluster: ManagementContext,
): ConditionStates {
  const { observation, plan, accepted, routed, isMoving, tenant } = applied;
  const { exposure, edge } = observation.resolved;
  const isAccepted = accepted.status === 'True';
  const isRouted = isAccepted && plan.routes !== undefined;
  const later = isRouted ? undefined : notYet(isAccepted ? 'Prepared' : 'Accepted');
  const { obstacle, previous } = routed;
  const wantedPort = exposure.spec.controlPlane.service?.konnectivityPort;
  return {
    Accepted: accepted,
    Prepared: prepared(applied, before),
    Routed: noting(
      noting(
        obstacle ? fails(obstacle) : (later ?? routedState(cluster, applied, hops)),
        previousRoutesFinding(previous, edge),
      ),
      unenforcedPolicy(exposure, edge),
    ),
    WorkersReady: later ?? tenant?.condition ?? workersBefore(applied, before),
    KonnectivityReady: later ?? konnectivityState(plan, hops, wantedPort),
    Reachable: later ?? reachableState(hops, isMoving ? before?.edgeRef?.name : undefined),
  };
}

/** After a fault of the management cluster the last known state stays. */
function prepared(
  { observation, accepted, preparation }: AppliedExposure,
  before: ExposureStatus | undefined,
): ConditionState {
  if (preparation.fault !== undefined) return stateBefore(before, 'Prepared');
  return accepted.status === 'True'
    ? preparedState(observation.reading, preparation.findings)
    : notYet('Accepted');
}

function workersBefore(
  { preparation, isInUse }: AppliedExposure,
  before: ExposureStatus | undefined,
): ConditionState {
  return preparation.isPrepared || isInUse
    ? stateBefore(before, 'WorkersReady')
    : notYet('Prepared');
}
