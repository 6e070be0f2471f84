/**
 * The conditions of an object's status.
 */
import { timeText, type Condition } from './object.ts';

/** A condition without its `lastTransitionTime`, which {@link setCondition} computes. */
export type ConditionClaim = Omit<Condition, 'lastTransitionTime'>;

/** Returns the condition of a type, if present. */
export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * Returns the list with one condition set. `lastTransitionTime` changes only if `status` does. If nothing changes, the
 * same list is returned, so that `===` shows whether there is anything to write.
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

/** The limit of the API, which rejects the whole status beyond it. */
const MAX_MESSAGE_LENGTH = 32_768;

function cut(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  return `${message.slice(0, MAX_MESSAGE_LENGTH - 1).toWellFormed()}…`;
}

function isSame(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}
