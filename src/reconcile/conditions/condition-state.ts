/**
 * What one look at an Exposure found: a state for each condition. Pure.
 */
import type { ExposureConditionType } from '../../api/exposure.ts';
import { findingText, type Finding } from '../../api/finding.ts';
import { HOP_CODES, type CodeEntry } from '../../probe/codes.ts';

/** What a condition will say. */
export interface ConditionState {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** Of one that does not hold: it will without anybody's doing. Default false. */
  readonly isWaiting?: boolean | undefined;
  /** Why it is False, where a person can do something about it. */
  readonly finding?: Finding | undefined;
}

/** The conditions that are found out one by one; Ready is made of them. */
export type PartialCondition = Exclude<ExposureConditionType, 'Ready'>;

/** All conditions but Ready. */
export type ConditionStates = Readonly<Record<PartialCondition, ConditionState>>;

/** A claim that holds. */
export function holds(reason: string, message: string): ConditionState {
  return { status: 'True', reason, message };
}

/** A claim that does not hold, and what to do about it. */
export function fails(finding: Finding): ConditionState {
  return { status: 'False', reason: finding.code, message: findingText(finding), finding };
}

/** A claim that does not hold yet, and will without anybody's doing. */
export function waits(reason: string, message: string): ConditionState {
  return { status: 'False', reason, message, isWaiting: true };
}

/** The same, with what a person can do meanwhile. */
export function waitsFor(finding: Finding, message: string): ConditionState {
  return { ...waits(finding.code, message), finding };
}

/** A claim that nobody has looked into, because another one comes first. */
export function notYet(first: PartialCondition): ConditionState {
  return {
    status: 'Unknown',
    reason: `Not${first}`,
    message: `not looked into before the condition ${first} is True`,
  };
}

/** A state, and something to know beside it. */
export function noting(state: ConditionState, finding: Finding | undefined): ConditionState {
  if (finding === undefined) return state;
  return { ...state, message: `${state.message}. ${finding.code}: ${findingText(finding)}` };
}

/** In the order in which they are mended: what is wrong first is what Ready names. */
export const CONDITION_ORDER: readonly PartialCondition[] = [
  'Accepted',
  'Prepared',
  'Routed',
  'WorkersReady',
  'KonnectivityReady',
  'Reachable',
];

/** The reason of WorkersReady, and so of Ready, for a tenant without nodes. */
export const NO_NODES = 'NoNodes';

/** The conditions that Ready is made of. */
const READY_CONDITIONS: readonly PartialCondition[] = [
  'Accepted',
  'Prepared',
  'Routed',
  'WorkersReady',
];

/** Proxies go the way of clients: where that is broken, theirs is too, and to say so of them hides why. */
function isSymptom({ WorkersReady: { status, reason }, Reachable }: ConditionStates): boolean {
  const code = Object.entries<CodeEntry>(HOP_CODES).find(([name]) => name === reason);
  return status === 'False' && code?.[1].hop === 'proxies' && Reachable.status === 'False';
}

/** What Ready is about, if it is not True. */
function firstWrong(conditions: ConditionStates): PartialCondition | undefined {
  const first = READY_CONDITIONS.find((type) => conditions[type].status === 'False');
  if (first === 'WorkersReady' && isSymptom(conditions)) return 'Reachable';
  return first ?? READY_CONDITIONS.find((type) => conditions[type].status === 'Unknown');
}

/** True if {@link READY_CONDITIONS} are; else in the words of the first that is not, or of its cause. */
export function readyState(conditions: ConditionStates): ConditionState {
  const failing = firstWrong(conditions);
  if (failing === undefined) {
    const { reason, message } = conditions.WorkersReady;
    return reason === NO_NODES ? holds(reason, message) : holds('Ready', 'All conditions are met');
  }
  const { reason, message } = conditions[failing];
  return { status: 'False', reason, message };
}

/** Whether people should hear of what Ready names. What only waits is no trouble, unless all was well before. */
export function isTrouble(conditions: ConditionStates, wasReady: boolean): boolean {
  const named = firstWrong(conditions);
  if (named === undefined) return false;
  const { status, isWaiting } = conditions[named];
  return status === 'False' && (wasReady || isWaiting !== true);
}
