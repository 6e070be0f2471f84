/**
 * The conditions of an object's status: a claim each, with the moment of its last turn.
 */
import { timeText, type Condition } from './object.ts';

/** A condition as its writer knows it; when it turned is found out here. */
export type ConditionClaim = Omit<Condition, 'lastTransitionTime'>;

/** The condition of a type, if there is one. */
export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * The list with one condition set, the others as they were. `lastTransitionTime` moves only when `status` does; if
 * nothing changes, the very same list comes back, so that `===` tells whether there is anything to write.
 */
export function setCondition(
  conditions: readonly Condition[],
  claim: ConditionClaim,
  now: Date,
): readonly Condition[] {
  const old = findCondition(conditions, claim.type);
  const lastTransitionTime = old?.status === claim.status ? old.lastTransitionTime : timeText(now);
  const next: Condition = { ...claim, message: cut(claim.message), lastTransitionTime };
  if (old === undefined) return [...conditions, next];
  if (isSame(old, next)) return conditions;
  return conditions.map((condition) => (condition === old ? next : condition));
}

/** The limit of the API: beyond it all of a status is refused. */
const MAX_MESSAGE_LENGTH = 32_768;

function cut(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  return `${message.slice(0, MAX_MESSAGE_LENGTH - 1).toWellFormed()}…`;
}

function isSame(one: Condition, other: Condition): boolean {
  return (
    one.status === other.status &&
    one.reason === other.reason &&
    one.message === other.message &&
    one.observedGeneration === other.observedGeneration
  );
}
