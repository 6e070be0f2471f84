/**
 * The problems of an Exposure, deduped: the same problem shows in a hop, in a condition and in Ready. Pure.
 */
import { isWarning, terminating, type EdgeView, type ExposureView } from './status-view.ts';

/** A problem of an Exposure. */
export interface Problem {
  /** It works, but the user should act. */
  readonly isWarning: boolean;
  /** The hops and conditions that report it. */
  readonly about: readonly string[];
  readonly code: string;
  readonly message: string;
  /** Absent: the message has it, or there is nothing to do. */
  readonly action?: string | undefined;
}

/**
 * Returns all problems: first that the Exposure is being deleted, which makes the others outdated, then those of the
 * Edge, hops and conditions.
 */
export function problemsOf(
  { hops, conditions, ready, reason, message }: ExposureView,
  edge?: EdgeView,
): readonly Problem[] {
  const problems: Problem[] = [];
  const note = (about: string, problem: Omit<Problem, 'about'>) => {
    const at = problems.findIndex((one) => isSame(one, problem));
    const known = problems[at];
    if (known === undefined) problems.push({ ...problem, about: [about] });
    else problems[at] = { ...known, about: [...known.about, about] };
  };
  const isBeingDeleted = ready !== 'True' && reason === 'CleaningUp';
  if (isBeingDeleted) note('Ready', { isWarning: false, code: reason, message });
  if (edge !== undefined && edge.ready !== 'True') {
    note(`Edge ${edge.name}`, { isWarning: false, code: edge.reason, message: edge.message });
  }
  const deletion = edge && terminating(edge);
  if (edge !== undefined && deletion !== undefined) {
    note(`Edge ${edge.name}`, {
      isWarning: true,
      code: deletion.reason,
      message: deletion.message,
    });
  }
  for (const hop of hops) {
    if (hop.state !== 'Fail' && !isWarning(hop)) continue;
    note(`hop ${hop.name}`, {
      isWarning: isWarning(hop),
      code: hop.reason,
      message: hop.message,
      action: hop.action,
    });
  }
  for (const { type, status, reason: code, message: conditionMessage } of conditions) {
    if (status !== 'True' && type !== 'Ready')
      note(type, { isWarning: false, code, message: conditionMessage });
  }
  // Uses the summary and not the condition, because the object may have changed since.
  if (ready !== 'True' && !isBeingDeleted)
    note('Ready', { isWarning: false, code: reason, message });
  return problems;
}

/**
 * Reports whether two problems are the same. The message of a condition starts with that of a hop, and continues with
 * its action and with other hops.
 */
function isSame(known: Omit<Problem, 'about'>, other: Omit<Problem, 'about'>): boolean {
  return known.code === other.code && other.message.startsWith(known.message);
}
