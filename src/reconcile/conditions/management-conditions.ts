/**
 * The conditions of an Exposure that are derived from the management cluster. Pure.
 */
import type { ExposureStatus } from '../../api/exposure.ts';
import { findingText, type Finding } from '../../api/finding.ts';
import type { Plan } from '../../plan/plan.ts';
import type { HopResult } from '../../probe/hop.ts';
import type { ControlPlaneReading } from '../../providers/reading/read-control-plane.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { TenantOutcome } from '../tenant/tenant-outcome.ts';
import { TENANT_FINALIZER } from '../finalizers.ts';
import type { ExposurePreparation } from '../preparation/prepare-exposure.ts';
import { isRolloutReason } from '../tenant/rollout-pacing.ts';
import type { RouteState } from '../routes/plan-routes.ts';
import {
  CONDITION_ORDER,
  conditionFalse,
  conditionTrue,
  withFinding,
  conditionUnknownUntil,
  conditionPending,
  type PartialCondition,
  type ConditionState,
  type ConditionStates,
} from './condition-state.ts';

/** Nothing is checked until the spec is valid. */
export function refused(accepted: ConditionState): ConditionStates {
  const later = conditionUnknownUntil('Accepted');
  return {
    Accepted: accepted,
    Prepared: later,
    Routed: later,
    WorkersReady: later,
    KonnectivityReady: later,
    Reachable: later,
  };
}

/**
 * A step could not be taken, for reasons that are not the Exposure's. What is known of the current spec stays; what comes
 * after the step waits for it.
 */
export function faultStates(
  before: ExposureStatus | undefined,
  generation: number,
  condition: PartialCondition,
  fault: ConditionState,
): ConditionStates {
  const known = (before?.conditions ?? []).filter(
    ({ observedGeneration }) => observedGeneration === generation,
  );
  const conditions = CONDITION_ORDER.map((type, place) => {
    const isLater = place > CONDITION_ORDER.indexOf(condition);
    const found = known.find((condition) => condition.type === type);
    if (type === condition) return [type, fault];
    return [type, found ?? (isLater ? conditionUnknownUntil(condition) : notReconciled())];
  });
  return Object.fromEntries(conditions) as ConditionStates;
}

/** Whether the spec can be fulfilled. */
export function acceptedState({ findings }: Plan): ConditionState {
  const wrong = findings.find(({ about, severity }) => about === 'spec' && severity === 'error');
  return wrong === undefined
    ? conditionTrue('Accepted', 'The Edge exists and the hosts are free.')
    : conditionFalse(wrong);
}

/** Whether the objects of the control plane have their fields, and everything about it is known. */
export function preparedState(
  reading: Pick<ControlPlaneReading, 'findings' | 'provided'>,
  preparation: readonly Finding[] = [],
): ConditionState {
  const warnings = [...preparation, ...reading.findings].filter((finding) => !isError(finding));
  return warnings.reduce(withFinding, errorState(reading, preparation));
}

function errorState(
  { findings, provided }: Pick<ControlPlaneReading, 'findings' | 'provided'>,
  preparation: readonly Finding[],
): ConditionState {
  // The provider is about to create the missing object.
  const isComing = provided?.phase === 'provisioning';
  const unprepared = preparation.find(isError);
  if (unprepared !== undefined) {
    const isNext =
      (isComing && unprepared.code === 'CertificateOutdated') ||
      unprepared.code === 'ChartValuesUnconfirmed';
    return isNext
      ? conditionPending(unprepared.code, findingText(unprepared))
      : conditionFalse(unprepared);
  }
  const missing = findings.find(isError);
  if (missing === undefined) {
    return conditionTrue(
      'Prepared',
      'The control plane exists, with its Service, CA and kubeconfig.',
    );
  }
  return isComing ? conditionPending(missing.code, findingText(missing)) : conditionFalse(missing);
}

function isError({ severity }: Finding): boolean {
  return severity === 'error';
}

/**
 * Whether the tenant uses the desired hosts already. Then it is reconciled, even if its control plane is no longer prepared.
 * During a move it is unknown whether the tenant may use the new hosts.
 */
export function usesDesiredHosts(
  { metadata: { finalizers = [] } }: KubeObject,
  plan: Pick<Plan, 'routes'>,
  { previous, isRoutedAsPlanned }: Pick<RouteState, 'previous' | 'isRoutedAsPlanned'>,
): boolean {
  const isRouted = plan.routes !== undefined && isRoutedAsPlanned;
  return finalizers.includes(TENANT_FINALIZER) && isRouted && previous.length === 0;
}

/**
 * Whether a move between Edges or hosts is complete, so that the previous routes can go. That takes more than Ready: every
 * condition is True (or KonnectivityReady is Unknown for lack of a permission), every address of the edge works, DNS points to
 * the edge, and no proxy has the previous template or waits for another one. After a fault of the preparation, the condition
 * Prepared is only the last known one.
 */
export function isMoveComplete(
  { fault }: Pick<ExposurePreparation, 'fault'>,
  conditions: ConditionStates,
  hops: readonly HopResult[],
): boolean {
  if (fault !== undefined) return false;
  const areAllTrue = CONDITION_ORDER.every((type) => {
    const { status, reason } = conditions[type];
    return status === 'True' || reason === 'AgentCheckForbidden';
  });
  const isRolloutDue = isRolloutReason(conditions.WorkersReady.reason);
  return areAllTrue && !isRolloutDue && !hops.some(({ code }) => isPartial(code));
}

function isPartial(code: string): boolean {
  return code === 'Degraded' || code === 'DnsMismatch' || code === 'ProxiesUpdating';
}

/** The state before this reconcile. */
export function stateBefore(
  before: ExposureStatus | undefined,
  condition: PartialCondition,
): ConditionState {
  const known = before?.conditions?.find(({ type }) => type === condition);
  const { status, reason, message } = known ?? notReconciled();
  return { status, reason, message };
}

function notReconciled(): ConditionState {
  return { status: 'Unknown', reason: 'NotObserved', message: 'Not reconciled yet.' };
}

/** A tenant that is starting is reported after this time: most have started by then, and each report is a write. */
const STARTING_MS = 5_000;

/** How long the state of a starting tenant is not reported yet. */
export function startingForMs(
  before: ExposureStatus | undefined,
  { condition }: TenantOutcome,
  now: Date,
): number {
  const known = before?.conditions?.find(({ type }) => type === 'WorkersReady');
  if (condition.isWaiting !== true || known?.status !== 'Unknown') return 0;
  const sinceMs = now.getTime() - Date.parse(known.lastTransitionTime);
  return Math.max(0, STARTING_MS - sinceMs);
}
