/**
 * What is wrong with an Exposure, each thing once: the same fault shows in a hop, in a condition and in Ready. Pure.
 */
import type { EdgeView, ExposureView } from './situation.ts';

/** One thing that is wrong. */
export interface Problem {
  /** Works, but somebody should act. */
  readonly isWarning: boolean;
  /** The hops and conditions that say so. */
  readonly about: readonly string[];
  readonly code: string;
  readonly message: string;
  /** Absent: the message has it, or there is nothing to do. */
  readonly action?: string | undefined;
}

/** All of them: that it leaves, which makes the others old, then the Edge's, then hops, then conditions. */
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
  const isLeaving = ready !== 'True' && reason === 'Leaving';
  if (isLeaving) note('Ready', { isWarning: false, code: reason, message });
  if (edge !== undefined && edge.ready !== 'True') {
    note(`Edge ${edge.name}`, { isWarning: false, code: edge.reason, message: edge.message });
  }
  for (const hop of hops) {
    // A hop that passes and has something to do is a warning.
    const isWarning = hop.state === 'Pass' && hop.action !== undefined;
    if (hop.state !== 'Fail' && !isWarning) continue;
    note(`hop ${hop.name}`, {
      isWarning,
      code: hop.reason,
      message: hop.message,
      action: hop.action,
    });
  }
  for (const { type, status, reason: code, message: said } of conditions) {
    if (status !== 'True' && type !== 'Ready')
      note(type, { isWarning: false, code, message: said });
  }
  // Not the condition: the object may have been changed since.
  if (ready !== 'True' && !isLeaving) note('Ready', { isWarning: false, code: reason, message });
  return problems;
}

/** A condition says message and action of a hop in one, and may name other hops after that. */
function isSame(known: Omit<Problem, 'about'>, other: Omit<Problem, 'about'>): boolean {
  return known.code === other.code && other.message.startsWith(known.message);
}
