/**
 * The states of an Exposure's conditions after a reconcile. Pure.
 */
import type { ExposureConditionType } from '../../api/exposure.ts';
import { findingText, type Finding } from '../../api/finding.ts';
import { RESULT_CODES, type CodeEntry } from '../../probe/codes.ts';

/** The content of a condition. */
export interface ConditionState {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** Whether a condition that is not True becomes True without action by a user. Default false. */
  readonly isWaiting?: boolean | undefined;
  /** Why it is False, if a user can fix it. */
  readonly finding?: Finding | undefined;
}

/** All conditions but Ready, which summarizes them. */
export type PartialCondition = Exclude<ExposureConditionType, 'Ready'>;

/** The states of all conditions but Ready. */
export type ConditionStates = Readonly<Record<PartialCondition, ConditionState>>;

/** A condition that is True. */
export function conditionTrue(reason: string, message: string): ConditionState {
  return { status: 'True', reason, message };
}

/** A condition that is False until a user fixes the finding. */
export function conditionFalse(finding: Finding): ConditionState {
  return { status: 'False', reason: finding.code, message: findingText(finding), finding };
}

/** A condition that is False for now, and becomes True without action by a user. */
export function conditionPending(reason: string, message: string): ConditionState {
  return { status: 'False', reason, message, isWaiting: true };
}

/** A condition that is False for now, with a finding that a user may have to fix. */
export function conditionPendingOnUser(finding: Finding, message: string): ConditionState {
  return { ...conditionPending(finding.code, message), finding };
}

/** A condition that is Unknown until another one is True. */
export function conditionUnknownUntil(first: PartialCondition): ConditionState {
  return {
    status: 'Unknown',
    reason: 'WaitingForCondition',
    message: `Waiting for condition ${first}.`,
  };
}

/** The state with a finding appended to its message. */
export function withFinding(state: ConditionState, finding: Finding | undefined): ConditionState {
  if (finding === undefined) return state;
  return { ...state, message: `${state.message} ${finding.code}: ${findingText(finding)}` };
}

/** In the order in which problems are fixed: Ready reports the first. */
export const CONDITION_ORDER: readonly PartialCondition[] = [
  'Accepted',
  'Prepared',
  'Routed',
  'WorkersReady',
  'KonnectivityReady',
  'Reachable',
];

/** The conditions that Ready summarizes. */
const READY_CONDITIONS: readonly PartialCondition[] = [
  'Accepted',
  'Prepared',
  'Routed',
  'WorkersReady',
];

/** Whether the proxies fail because the path of clients, which they share, is broken. Then that is the cause to report. */
function isSymptom({ WorkersReady: { status, reason }, Reachable }: ConditionStates): boolean {
  const code = Object.entries<CodeEntry>(RESULT_CODES).find(([name]) => name === reason);
  return status === 'False' && code?.[1].of.join() === 'proxies' && Reachable.status === 'False';
}

/** The condition that Ready reports; undefined if Ready is True. */
function firstNotTrue(conditions: ConditionStates): PartialCondition | undefined {
  const first = READY_CONDITIONS.find((type) => conditions[type].status === 'False');
  if (first === 'WorkersReady' && isSymptom(conditions)) return 'Reachable';
  return first ?? READY_CONDITIONS.find((type) => conditions[type].status === 'Unknown');
}

/** True if all {@link READY_CONDITIONS} are True; otherwise the state of the first that is not, or of its cause. */
export function readyState(conditions: ConditionStates): ConditionState {
  const failing = firstNotTrue(conditions);
  if (failing === undefined) {
    const { reason, message } = conditions.WorkersReady;
    return reason === 'NoNodes'
      ? conditionTrue(reason, message)
      : conditionTrue('Ready', 'All conditions are met.');
  }
  const { reason, message } = conditions[failing];
  return { status: 'False', reason, message };
}

/** Whether Ready deserves a warning event. A pending condition does not, unless the Exposure was Ready before. */
export function deservesWarning(conditions: ConditionStates, wasReady: boolean): boolean {
  const named = firstNotTrue(conditions);
  if (named === undefined) return false;
  const { status, isWaiting } = conditions[named];
  return status === 'False' && (wasReady || isWaiting !== true);
}
