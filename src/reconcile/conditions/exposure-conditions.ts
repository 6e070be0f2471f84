/**
 * What a run says of an Exposure's conditions, with all that it has found. Pure.
 */
import { unenforcedPolicy } from '../../plan/tenant-routes.ts';
import { formerRoutesKept } from '../../edges/former-routes.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { TenantOutcome } from '../tenant/tenant-outcome.ts';
import { preparedState, stateBefore } from './management-conditions.ts';
import { konnectivityState, reachableState, type KnownHop } from './hop-conditions.ts';
import type { Standing } from '../standing.ts';
import {
  fails,
  noting,
  notYet,
  type ConditionState,
  type ConditionStates,
} from './condition-state.ts';

/** What is known of the way besides. */
export interface KnownWay {
  readonly hops: readonly KnownHop[];
  /** Of the route objects. */
  readonly routes: () => ConditionState;
  /** Absent: it was not looked at in this run. */
  readonly tenant: TenantOutcome | undefined;
  /** Routes of a former Edge that are still there. */
  readonly former: readonly KubeObject[];
}

/** A state for each condition. */
export function conditionStates(
  standing: Standing,
  { hops, routes, tenant, former }: KnownWay,
): ConditionStates {
  const { look, accepted, routed, before, isMoving } = standing;
  const { plan, wish } = look;
  const isAccepted = accepted.status === 'True';
  const isRouted = isAccepted && plan.routes !== undefined;
  const later = isRouted ? undefined : notYet(isAccepted ? 'Prepared' : 'Accepted');
  const { obstacle } = routed;
  const wishedPort = wish.exposure.spec.controlPlane.service?.konnectivityPort;
  return {
    Accepted: accepted,
    Prepared: prepared(standing),
    Routed: noting(
      noting(obstacle ? fails(obstacle) : (later ?? routes()), formerRoutesKept(former, wish.edge)),
      unenforcedPolicy(wish.exposure, wish.edge),
    ),
    WorkersReady: later ?? tenant?.condition ?? unaskedTenant(standing),
    KonnectivityReady: later ?? konnectivityState(plan, hops, wishedPort),
    Reachable: later ?? reachableState(hops, isMoving ? before?.edgeRef?.name : undefined),
  };
}

/** With a fault of the management cluster nobody knows: what was known stays. */
function prepared({ look, accepted, before, preparation }: Standing): ConditionState {
  if (preparation.fault !== undefined) return stateBefore(before, 'Prepared');
  return accepted.status === 'True'
    ? preparedState(look.reading, preparation.findings)
    : notYet('Accepted');
}

function unaskedTenant({ before, preparation, isInUse }: Standing): ConditionState {
  return preparation.isPrepared || isInUse
    ? stateBefore(before, 'WorkersReady')
    : notYet('Prepared');
}
