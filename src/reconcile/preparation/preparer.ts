/**
 * Writes into providers' objects what they must carry, and puts everything back. What to write is planned elsewhere; here
 * is who may be overwritten, what happens in between, and when to stop.
 */
import type { PreparePolicy } from '../../api/exposure.ts';
import { systemClock, type Clock } from '../../clock/clock.ts';
import { conflictOwners } from '../../kube/apply/conflict.ts';
import type { ObjectClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { Repeats } from '../../kube/apply/repeats.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import { OWN_MANAGER, ownersPatch, released } from '../../providers/preparation/field-owners.ts';
import { treeOf } from '../../providers/preparation/field-path.ts';
import type {
  PreparationOwner,
  PreparationPlan,
} from '../../providers/preparation/plan-preparation.ts';
import type { PreparationSpec } from '../../providers/preparation/preparation.ts';
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
import type { Poll } from '../poll-backoff.ts';
import { recordChange, writeRecord, type RecordChange } from './record-writes.ts';

/** What is to be prepared, for whom, and how far one may go. */
export interface PreparationInput {
  readonly policy: PreparePolicy;
  readonly provided: Pick<ProvidedFacts, 'provider' | 'objects'>;
  readonly spec: PreparationSpec;
  readonly owner: PreparationOwner;
  /** Called after each write to the Exposure, so that later writes of the same reconcile carry the new version. */
  readonly wrote?: (before: KubeObject, after: KubeObject) => void;
}

/** What became of it. */
export interface PreparationOutcome {
  /** What the objects have to have, by how they were observed. */
  readonly plans: readonly PreparationPlan[];
  /** Whether every object carries all that it must. */
  readonly isPrepared: boolean;
  readonly findings: readonly Finding[];
  /** When to try again; absent: when something changes. */
  readonly requeueAfterMs?: number | undefined;
  /** Absent: there is nothing that no watch reports. */
  readonly poll?: Poll | undefined;
}

type WriteOutcome = Omit<PreparationOutcome, 'plans'>;

/** Others write in between now and then, not for ever. A preparation takes five writes at most. */
const MAX_ATTEMPTS = 10;
const BUSY: Poll = { reason: 'Busy', firstMs: 1_000 };

/** Options of a {@link Preparer}. */
export interface PreparerOptions {
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** What people's clocks show. Default: those of the machine. */
  readonly now?: () => Date;
}

/** An Exposure and the objects of its control plane, as the server has them. */
interface Present {
  readonly exposure: KubeObject;
  readonly objects: readonly KubeObject[];
}

/** A write that a webhook changed. */
interface NotKept {
  /** The key of the Exposure that it was for. */
  readonly owner: string;
  readonly content: string;
  readonly finding: Finding;
}

/** Prepares the objects of control planes in one management cluster. */
export class Preparer {
  readonly #client: ObjectClient;
  /** By the uid of an object. */
  readonly #repeats: Repeats;
  /** The same, of those whose last write was changed by a webhook: what was written, and what is said of it. */
  readonly #notKept = new Map<string, NotKept>();
  /** Keys of Exposures by the uid of the object that they prepare: the watch reports a record a moment later. */
  readonly #claims = new Map<string, string>();

  constructor(client: ObjectClient, { clock = systemClock, now }: PreparerOptions = {}) {
    this.#client = client;
    this.#repeats = new Repeats(clock, now);
  }

  /** An Exposure is gone. */
  forget(exposure: string): void {
    this.#release(exposure);
    for (const [place, { owner }] of this.#notKept) {
      if (owner === exposure) this.#notKept.delete(place);
    }
  }

  /** Gives the claims of an Exposure up. */
  #release(exposure: string): void {
    for (const [uid, owner] of this.#claims) if (owner === exposure) this.#claims.delete(uid);
  }

  /** Writes what the objects lack. @throws KubeError for what should be tried again soon */
  async prepare(input: PreparationInput, signal: AbortSignal): Promise<PreparationOutcome> {
    const { provided, policy, owner } = input;
    const plans = this.#plan(input, owner.exposure, provided.objects);
    const known = withoutWriting(owner.exposure, plans, policy);
    return { plans, ...(known ?? (await this.#prepare(input, signal))) };
  }

  async #prepare(input: PreparationInput, signal: AbortSignal): Promise<WriteOutcome> {
    const { provided, policy, owner } = input;
    const { exposure } = owner;
    for (let attempt = 1; ; attempt++) {
      // What was read may be a copy that a watch keeps: what is written goes by the objects themselves.
      const present = await this.#read(exposure, provided.objects, signal);
      if ('code' in present) return { isPrepared: false, findings: [present] };
      const plans = this.#plan(input, present.exposure, present.objects);
      const outcome =
        withoutWriting(present.exposure, plans, policy) ??
        (await this.#write(input, present, plans, signal));
      if (outcome !== 'again') return outcome;
      if (attempt >= MAX_ATTEMPTS) {
        return {
          isPrepared: false,
          findings: [busyFinding(present.objects), ...findingsOf(plans)],
          poll: BUSY,
        };
      }
    }
  }

  #plan(
    { provided, spec, owner }: PreparationInput,
    exposure: KubeObject,
    objects: readonly KubeObject[],
  ): readonly PreparationPlan[] {
    const key = keyText(exposure.metadata);
    const otherOwner = (uid: string) => {
      const claimed = this.#claims.get(uid);
      return claimed !== undefined && claimed !== key ? claimed : owner.otherOwner(uid);
    };
    return planProvided(provided, spec, { exposure, otherOwner }, objects);
  }

  async #read(
    exposure: KubeObject,
    objects: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<Present | Finding> {
    const fresh: KubeObject[] = [];
    for (const object of objects) {
      const found = await this.#client.get(resourceOfProvider(object), object.metadata, { signal });
      if (found === undefined || found.metadata.uid !== object.metadata.uid) {
        return goneFinding(object);
      }
      fresh.push(found);
    }
    const found = await this.#client.get(RESOURCES.exposure, exposure.metadata, { signal });
    if (found === undefined || found.metadata.uid !== exposure.metadata.uid) {
      return goneFinding(exposure);
    }
    return { exposure: found, objects: fresh };
  }

  /** One step: the record before the objects, then the objects, then the record without what is not needed any more. */
  async #write(
    input: PreparationInput,
    { exposure }: Present,
    plans: readonly PreparationPlan[],
    signal: AbortSignal,
  ): Promise<WriteOutcome | 'again'> {
    const isForced = input.policy === 'Force';
    const findings = [...findingsOf(plans)];
    const due = plans.filter(isToWrite);
    // Of all objects first: one that is written while another cannot be is neither prepared nor as it was.
    const conflicts = isForced ? [] : due.flatMap(foreseenConflicts);
    if (conflicts.length > 0) return { isPrepared: false, findings: [...conflicts, ...findings] };
    for (const plan of due) {
      // Two who know better must not wear out a server, nor roll out API servers all day.
      const requeueAfterMs = this.#repeats.waitMs(placeOf(plan), contentOf(plan));
      if (requeueAfterMs > 0) {
        return { isPrepared: false, findings: [this.#undone(plan), ...findings], requeueAfterMs };
      }
    }
    if (exposure.metadata.deletionTimestamp !== undefined) {
      return { isPrepared: false, findings };
    }
    const record = recordChange(exposure, plans, due.length > 0 ? 'before' : 'after');
    if (record !== undefined) {
      const written = await this.#record(exposure, record, signal);
      if (written !== undefined) input.wrote?.(exposure, written);
      return 'again';
    }
    for (const plan of due) {
      const result = await this.#writeOne(plan, isForced, signal);
      if (result === 'again') return 'again';
      if (result !== 'written') {
        return { isPrepared: false, findings: [...result, ...findings] };
      }
    }
    return this.#confirm(input, due, signal);
  }

  /** Prepared is what the server returns: a webhook may have changed what was written. */
  async #confirm(
    input: PreparationInput,
    written: readonly PreparationPlan[],
    signal: AbortSignal,
  ): Promise<WriteOutcome | 'again'> {
    const { owner, provided, policy } = input;
    const present = await this.#read(owner.exposure, provided.objects, signal);
    if ('code' in present) return { isPrepared: false, findings: [present] };
    const plans = this.#plan(input, present.exposure, present.objects);
    const notKept = plans.flatMap((plan) => {
      const isWritten = written.some(({ live }) => live.metadata.uid === plan.live.metadata.uid);
      if (!isWritten || plan.differing.length === 0) return [];
      const finding = notKeptFinding(plan.live, plan.differing);
      const key = keyText(owner.exposure.metadata);
      this.#notKept.set(placeOf(plan), { owner: key, content: contentOf(plan), finding });
      return [finding];
    });
    if (notKept.length > 0) {
      return { isPrepared: false, findings: [...notKept, ...findingsOf(plans)] };
    }
    return withoutWriting(present.exposure, plans, policy) ?? 'again';
  }

  /** Writes the record of this very version of the Exposure. Until it is written, the objects are claimed. @throws KubeError */
  async #record(
    { metadata }: KubeObject,
    { to: text, uids }: RecordChange,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const key = keyText(metadata);
    // First: the watch may report that the record loses an object before the server answers the write.
    this.#release(key);
    for (const uid of uids) this.#claims.set(uid, key);
    let written: KubeObject | undefined;
    try {
      written = await writeRecord(this.#client, metadata, text, signal);
      return written;
    } finally {
      // Another Exposure must not wait for one that has no record.
      if (written === undefined) for (const uid of uids) this.#claims.delete(uid);
    }
  }

  async #writeOne(
    plan: PreparationPlan,
    force: boolean,
    signal: AbortSignal,
  ): Promise<readonly Finding[] | 'written' | 'again'> {
    const { resource, live, body, putBack, staying } = plan;
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
        const patch = ownersPatch(live.metadata, left);
        await this.#client.patch(resource, live.metadata, 'merge', patch, { signal });
        return 'again';
      }
      await this.#client.apply(body, { force, resource, signal });
      const [place, content] = [placeOf(plan), contentOf(plan)];
      this.#repeats.add(place, content);
      this.#notKept.delete(place);
      return 'written';
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return [goneFinding(live)];
      if (isKubeError(error, 'Invalid')) return [refusedFinding(plan, error)];
      if (isKubeError(error, 'Forbidden')) return [forbiddenFinding(plan)];
      if (!isKubeError(error, 'Conflict')) throw error;
      const owners = conflictOwners(error);
      // Without owners it is the version that is another: somebody wrote in between, or the object is gone.
      if (owners.length === 0) return 'again';
      // What was put back by a patch is ours by another operation, which counts as another owner.
      const others = owners.filter(({ manager }) => manager !== OWN_MANAGER);
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

/** What the objects need, by how they were observed: nothing is known of what a write would meet. */
export function plannedPreparation({
  policy,
  provided,
  spec,
  owner,
}: PreparationInput): PreparationOutcome {
  const plans = planProvided(provided, spec, owner, provided.objects);
  const known = withoutWriting(owner.exposure, plans, policy);
  if (known !== undefined) return { plans, ...known };
  const conflicts = policy === 'Force' ? [] : plans.filter(isToWrite).flatMap(foreseenConflicts);
  const findings = [...conflicts, ...findingsOf(plans)];
  return { plans, isPrepared: conflicts.length === 0, findings };
}

/** What is said where nothing is written: something is wrong, everything is there, or nobody wants it. */
function withoutWriting(
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
    return { isPrepared: wanted.length === 0, findings: [...wanted, ...findings] };
  }
  const isDone = !plans.some(isToWrite) && recordChange(exposure, plans, 'after') === undefined;
  return isDone ? { isPrepared: true, findings } : undefined;
}

/** Whether something of it is not there yet, or is to go. */
function isToWrite({ isDue, putBack }: PreparationPlan): boolean {
  return isDue || putBack.length > 0;
}

/** What keeps everything from being written comes first. */
function findingsOf(plans: readonly PreparationPlan[]): readonly Finding[] {
  const all = plans.flatMap(({ findings }) => findings);
  return [
    ...all.filter(({ severity }) => severity === 'error'),
    ...all.filter(({ severity }) => severity === 'warning'),
  ];
}

function placeOf({ live }: PreparationPlan): string {
  return live.metadata.uid ?? keyText(live.metadata);
}

/** What is ours alone: one who undoes it may put something else there each time. */
function contentOf({ fields }: PreparationPlan): string {
  return JSON.stringify(fields.map(({ path, own }) => [path, own]));
}
