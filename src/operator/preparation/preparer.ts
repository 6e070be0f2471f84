/**
 * Writes into providers' objects what they must carry, and puts everything back. What to write is planned elsewhere; here
 * is who may be overwritten, what happens in between, and when to stop.
 */
import type { PreparePolicy } from '../../api/exposure.ts';
import { systemClock, type Clock } from '../../clock/clock.ts';
import { conflictOwners, type ConflictOwner } from '../../kube/apply/conflict.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { Repeats } from '../../kube/apply/repeats.ts';
import type { Finding } from '../../api/finding.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import { valueAt } from '../../kube/unstructured.ts';
import { OWN_MANAGER, released } from '../../providers/preparation/field-owners.ts';
import { treeOf } from '../../providers/preparation/field-path.ts';
import type { Holder, PreparationPlan } from '../../providers/preparation/plan-preparation.ts';
import type { PreparationWish } from '../../providers/preparation/preparation.ts';
import { RECORD_ANNOTATION } from '../../providers/preparation/record.ts';
import { planProvided } from '../../providers/plan-provided.ts';
import { resourceOfProvider } from '../../providers/provider-for.ts';
import {
  busyFinding,
  conflictFindings,
  contestedFinding,
  forbiddenFinding,
  foreseenConflicts,
  goneFinding,
  notKeptFinding,
  refusedFinding,
  wantedFinding,
} from './preparation-findings.ts';

/** What is to be prepared, for whom, and how far one may go. */
export interface PreparationInput {
  readonly policy: PreparePolicy;
  readonly provided: Pick<ProvidedFacts, 'provider' | 'objects'>;
  readonly wish: PreparationWish;
  readonly holder: Holder;
}

/** What became of it. */
export interface PreparationOutcome {
  /** Whether every object carries all that it must. */
  readonly isPrepared: boolean;
  readonly findings: readonly Finding[];
  /** When to try again; absent: when something changes. */
  readonly lookAgainMs?: number | undefined;
}

/** Others write in between now and then, not for ever. */
const MAX_ATTEMPTS = 5;
const BUSY_MS = 1_000;

/** Options of a {@link Preparer}. */
export interface PreparerOptions {
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** What people's clocks show. Default: those of the machine. */
  readonly now?: () => Date;
}

/** Prepares the objects of control planes in one management cluster. */
export class Preparer {
  readonly #client: KubeClient;
  /** By the uid of an object. */
  readonly #repeats: Repeats;
  /** The same, of those whose last write was changed by a webhook: what was written, and what is said of it. */
  readonly #notKept = new Map<string, { readonly content: string; readonly finding: Finding }>();

  constructor(client: KubeClient, { clock = systemClock, now }: PreparerOptions = {}) {
    this.#client = client;
    this.#repeats = new Repeats(clock, now);
  }

  /** Sees to it that the objects carry what they must. @throws KubeError for what should be tried again soon */
  async prepare(input: PreparationInput, signal: AbortSignal): Promise<PreparationOutcome> {
    const { provided, policy, wish, holder } = input;
    const known = withoutWriting(planProvided(provided, wish, holder), policy);
    if (known !== undefined) return known;
    for (let attempt = 1; ; attempt++) {
      // What was read may be a copy that a watch keeps: what is written goes by the object itself.
      const objects = await this.#read(provided.objects, signal);
      if ('code' in objects) return { isPrepared: false, findings: [objects] };
      const plans = planProvided(provided, wish, holder, objects);
      const outcome = withoutWriting(plans, policy) ?? (await this.#write(plans, policy, signal));
      if (outcome !== 'again') return outcome;
      if (attempt >= MAX_ATTEMPTS) {
        return {
          isPrepared: false,
          findings: [busyFinding(objects), ...findingsOf(plans)],
          lookAgainMs: BUSY_MS,
        };
      }
    }
  }

  async #read(
    objects: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<readonly KubeObject[] | Finding> {
    const fresh: KubeObject[] = [];
    for (const object of objects) {
      const found = await this.#client.get(resourceOfProvider(object), object.metadata, { signal });
      if (found === undefined || found.metadata.uid !== object.metadata.uid) {
        return goneFinding(object);
      }
      fresh.push(found);
    }
    return fresh;
  }

  async #write(
    plans: readonly PreparationPlan[],
    policy: PreparePolicy,
    signal: AbortSignal,
  ): Promise<PreparationOutcome | 'again'> {
    const findings = [...findingsOf(plans)];
    const due = plans.filter(isToWrite);
    // Of all objects first: one that is written while another cannot be is neither prepared nor as it was.
    const conflicts = policy === 'Force' ? [] : due.flatMap(foreseenConflicts);
    if (conflicts.length > 0) return { isPrepared: false, findings: [...conflicts, ...findings] };
    for (const plan of due) {
      // Two who know better must not wear out a server, nor roll out API servers all day.
      const lookAgainMs = this.#repeats.waitMs(placeOf(plan), contentOf(plan));
      if (lookAgainMs > 0) {
        return { isPrepared: false, findings: [this.#undone(plan), ...findings], lookAgainMs };
      }
      const result = await this.#writeOne(plan, policy === 'Force', signal);
      if (result === 'again') return 'again';
      if (result !== 'written') {
        return { isPrepared: false, findings: [...result, ...findings] };
      }
    }
    return { isPrepared: true, findings };
  }

  async #writeOne(
    plan: PreparationPlan,
    force: boolean,
    signal: AbortSignal,
  ): Promise<readonly Finding[] | 'written' | 'again'> {
    const { resource, live, body, putBack, staying, fields } = plan;
    const { resourceVersion, managedFields = [] } = live.metadata;
    try {
      if (putBack.length > 0) {
        const patch = {
          metadata: { resourceVersion },
          ...treeOf(putBack.map(({ path, value }) => [path, value] as const)),
        };
        await this.#client.patch(resource, live.metadata, 'merge', patch, { signal });
        return 'again';
      }
      const left = released(managedFields, staying);
      if (!Bun.deepEquals(left, managedFields)) {
        const patch = { metadata: { resourceVersion, managedFields: left } };
        await this.#client.patch(resource, live.metadata, 'merge', patch, { signal });
        return 'again';
      }
      const after = await this.#client.apply(body, { force, resource, signal });
      const [place, content] = [placeOf(plan), contentOf(plan)];
      this.#repeats.add(place, content);
      this.#notKept.delete(place);
      const lacking = fields
        .map((field) => ({ ...field, now: valueAt(after, ...field.path) }))
        .filter(({ now, wanted }) => !Bun.deepEquals(now, wanted));
      if (lacking.length === 0) return 'written';
      const finding = notKeptFinding(live, lacking);
      this.#notKept.set(place, { content, finding });
      return [finding];
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return [goneFinding(live)];
      if (isKubeError(error, 'Invalid')) return [refusedFinding(plan, error)];
      if (isKubeError(error, 'Forbidden')) return [forbiddenFinding(plan)];
      if (!isKubeError(error, 'Conflict')) throw error;
      const owners = conflictOwners(error);
      // Without owners it is the version that is another: somebody wrote in between, or the object is gone.
      if (owners.length === 0) return 'again';
      // What was put back by a patch is ours by another operation, which counts as another owner.
      const others = withoutRecord(owners.filter(({ manager }) => manager !== OWN_MANAGER));
      return others.length === 0
        ? this.#writeOne(plan, true, signal)
        : conflictFindings(plan, others);
    }
  }

  /** What is said of a write that is not there any more, until it is written again. */
  #undone(plan: PreparationPlan): Finding {
    const [place, content] = [placeOf(plan), contentOf(plan)];
    const notKept = this.#notKept.get(place);
    if (notKept?.content === content) return notKept.finding;
    return contestedFinding(plan, this.#repeats.undoneSince(place, content));
  }
}

/** What is said where nothing is written: something is wrong, everything is there, or nobody wants it. */
export function withoutWriting(
  plans: readonly PreparationPlan[],
  policy: PreparePolicy,
): PreparationOutcome | undefined {
  const findings = findingsOf(plans);
  const differing = plans.filter((plan) => plan.differing.length > 0);
  if (findings.some(({ severity }) => severity === 'error')) {
    return { isPrepared: false, findings };
  }
  if (policy === 'Report') {
    const wanted = differing.map(wantedFinding);
    return { isPrepared: wanted.length === 0, findings: [...wanted, ...findings] };
  }
  return plans.some(isToWrite) ? undefined : { isPrepared: true, findings };
}

/** Whether something of it is not there yet, or is to go. */
export function isToWrite({ isDue, putBack }: PreparationPlan): boolean {
  return isDue || putBack.length > 0;
}

/** What keeps everything from being written comes first. */
export function findingsOf(plans: readonly PreparationPlan[]): readonly Finding[] {
  const all = plans.flatMap(({ findings }) => findings);
  return [
    ...all.filter(({ severity }) => severity === 'error'),
    ...all.filter(({ severity }) => severity === 'warning'),
  ];
}

/** The record is ours, whoever has written it last: it comes along when somebody copies an object. */
function withoutRecord(owners: readonly ConflictOwner[]): readonly ConflictOwner[] {
  const record = `.metadata.annotations.${RECORD_ANNOTATION}`;
  return owners
    .map(({ manager, fields }) => ({ manager, fields: fields.filter((field) => field !== record) }))
    .filter(({ fields }) => fields.length > 0);
}

function placeOf({ live }: PreparationPlan): string {
  return live.metadata.uid ?? keyText(live.metadata);
}

/** What is ours alone: one who undoes it may put something else there each time, and the record has that too. */
function contentOf({ fields }: PreparationPlan): string {
  return JSON.stringify(fields.map(({ path, wish }) => [path, wish]));
}
