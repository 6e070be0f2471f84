/**
 * The conditions of an Exposure after a reconcile. Pure.
 */
import type { ExposureStatus } from '../../api/exposure.ts';
import { previousRoutesFinding } from '../../edges/previous-routes.ts';
import { unenforcedPolicy } from '../../plan/tenant-routes.ts';
import type { Reconciled } from '../reconcile-exposure.ts';
import {
  fails,
  noting,
  notYet,
  type ConditionState,
  type ConditionStates,
} from './condition-state.ts';
import { konnectivityState, reachableState, type KnownHop } from './hop-conditions.ts';
import { preparedState, stateBefore } from './management-conditions.ts';

/** What is known besides the result of the reconcile. */
export interface ConditionInput {
  /** The status before the reconcile. */
  readonly before: ExposureStatus | undefined;
  /** What probes found about the path of clients. */
  readonly hops: readonly KnownHop[];
  /** The condition of the route objects. */
  readonly routes: () => ConditionState;
}

/** The state of each condition but Ready. */
export function conditionStates(reconciled: Reconciled, input: ConditionInput): ConditionStates {
  const { observation, plan, accepted, routed, isMoving, tenant } = reconciled;
  const { exposure, edge } = observation.resolved;
  const { before, hops, routes } = input;
  const isAccepted = accepted.status === 'True';
  const isRouted = isAccepted && plan.routes !== undefined;
  const later = isRouted ? undefined : notYet(isAccepted ? 'Prepared' : 'Accepted');
  const { obstacle, previous } = routed;
  const wantedPort = exposure.spec.controlPlane.service?.konnectivityPort;
  return {
    Accepted: accepted,
    Prepared: prepared(reconciled, before),
    Routed: noting(
      noting(
        obstacle ? fails(obstacle) : (later ?? routes()),
        previousRoutesFinding(previous, edge),
      ),
      unenforcedPolicy(exposure, edge),
    ),
    WorkersReady: later ?? tenant?.condition ?? workersBefore(reconciled, before),
    KonnectivityReady: later ?? konnectivityState(plan, hops, wantedPort),
    Reachable: later ?? reachableState(hops, isMoving ? before?.edgeRef?.name : undefined),
  };
}

/** After a fault of the management cluster the last known state stays. */
function prepared(
  { observation, accepted, preparation }: Reconciled,
  before: ExposureStatus | undefined,
): ConditionState {
  if (preparation.fault !== undefined) return stateBefore(before, 'Prepared');
  return accepted.status === 'True'
    ? preparedState(observation.reading, preparation.findings)
    : notYet('Accepted');
}

function workersBefore(
  { preparation, isInUse }: Reconciled,
  before: ExposureStatus | undefined,
): ConditionState {
  return preparation.isPrepared || isInUse
    ? stateBefore(before, 'WorkersReady')
    : notYet('Prepared');
}
