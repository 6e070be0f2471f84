/**
 * Plans a preparation: which step comes next for the observed objects. Pure.
 */
import type { PreparePolicy } from '../../api/exposure.ts';
import type { Finding } from '../../api/finding.ts';
import type { KubeObject } from '../../kube/object.ts';
import type {
  PreparationOwner,
  PreparationPlan,
} from '../../providers/preparation/plan-preparation.ts';
import type { PreparationSpec } from '../../providers/preparation/preparation.ts';
import { planProvided } from '../../providers/plan-provided.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import type { Poll } from '../poll-backoff.ts';
import { awaitedFindings, plannedConflicts, wantedFinding } from './preparation-findings.ts';
import { recordChange, type RecordChange } from './record-writes.ts';

/** What to prepare, for which Exposure, and by which policy. */
export interface PreparationInput {
  readonly policy: PreparePolicy;
  readonly provided: Pick<ProvidedFacts, 'provider' | 'objects'>;
  readonly spec: PreparationSpec;
  readonly owner: PreparationOwner;
}

/** The result of a preparation. */
export interface PreparationOutcome {
  /** The plans for the objects as they were observed. */
  readonly plans: readonly PreparationPlan[];
  /** Whether every object has all its fields. */
  readonly isPrepared: boolean;
  readonly findings: readonly Finding[];
  /** When to retry. Absent: when something changes. */
  readonly requeueAfterMs?: number | undefined;
  /** Absent: watches report everything that it waits for. */
  readonly poll?: Poll | undefined;
}

/** The same without the plans. */
export type WriteOutcome = Omit<PreparationOutcome, 'plans'>;

/** Why a plan is not written yet. */
export interface HeldBack {
  readonly finding: Finding;
  readonly requeueAfterMs: number;
}

/** What to do next. After a write, the objects are read and planned again. */
type PreparationStep =
  | { readonly kind: 'Done'; readonly outcome: WriteOutcome }
  | { readonly kind: 'Record'; readonly change: RecordChange }
  | { readonly kind: 'Write'; readonly plans: readonly PreparationPlan[] };

/** The next step: first the record, then the objects, then the record without obsolete fields. */
export function nextStep(
  exposure: KubeObject,
  plans: readonly PreparationPlan[],
  policy: PreparePolicy,
  heldBack: (plan: PreparationPlan) => HeldBack | undefined = () => undefined,
): PreparationStep {
  const known = withoutWriting(exposure, plans, policy);
  if (known !== undefined) return { kind: 'Done', outcome: known };
  const findings = findingsOf(plans);
  const unprepared = (first: readonly Finding[], requeueAfterMs?: number): PreparationStep => ({
    kind: 'Done',
    outcome: { isPrepared: false, findings: [...first, ...findings], requeueAfterMs },
  });
  const due = plans.filter(isToWrite);
  // Checked for all objects before the first write, so that none is written if another cannot be.
  const conflicts = policy === 'Force' ? [] : due.flatMap(plannedConflicts);
  if (conflicts.length > 0) return unprepared(conflicts);
  for (const plan of due) {
    const held = heldBack(plan);
    if (held !== undefined) return unprepared([held.finding], held.requeueAfterMs);
  }
  if (exposure.metadata.deletionTimestamp !== undefined) return unprepared([]);
  const change = recordChange(exposure, plans, due.length > 0 ? 'before' : 'after');
  return change === undefined ? { kind: 'Write', plans: due } : { kind: 'Record', change };
}

/** The preparation without writes: conflicts are derived from the observed field managers. */
export function plannedPreparation({
  policy,
  provided,
  spec,
  owner,
}: PreparationInput): PreparationOutcome {
  const plans = planProvided(provided, spec, owner, provided.objects);
  const step = nextStep(owner.exposure, plans, policy);
  if (step.kind === 'Done') return { plans, ...step.outcome };
  return { plans, isPrepared: true, findings: findingsOf(plans) };
}

/** The result if nothing is to be written: an error, the policy Report, or complete objects. Undefined: there are writes. */
export function withoutWriting(
  exposure: KubeObject,
  plans: readonly PreparationPlan[],
  policy: PreparePolicy,
): WriteOutcome | undefined {
  const findings = findingsOf(plans);
  const differing = plans.filter((plan) => plan.differing.length > 0);
  if (findings.some(({ severity }) => severity === 'error')) {
    return { isPrepared: false, findings };
  }
  if (policy === 'Report') {
    const wanted = differing.map(wantedFinding);
    const unmet = wanted.length === 0 ? awaitedFindings(plans) : wanted;
    return { isPrepared: unmet.length === 0, findings: [...unmet, ...findings] };
  }
  const isDone = !plans.some(isToWrite) && recordChange(exposure, plans, 'after') === undefined;
  if (!isDone) return undefined;
  const awaited = awaitedFindings(plans);
  return { isPrepared: awaited.length === 0, findings: [...awaited, ...findings] };
}

/** Whether fields are missing or to be restored. */
function isToWrite({ isDue, restoredValues }: PreparationPlan): boolean {
  return isDue || restoredValues.length > 0;
}

/** The findings, errors first. */
export function findingsOf(plans: readonly PreparationPlan[]): readonly Finding[] {
  const all = plans.flatMap(({ findings }) => findings);
  return [
    ...all.filter(({ severity }) => severity === 'error'),
    ...all.filter(({ severity }) => severity === 'warning'),
  ];
}
