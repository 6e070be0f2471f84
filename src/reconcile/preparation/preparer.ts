/**
 * Writes the planned fields to the objects of providers. Handles field conflicts, concurrent writes, and clients or webhooks that
 * revert the fields.
 */
import type { PreparePolicy } from '../../api/exposure.ts';
import { systemClock, type Clock } from '../../clock/clock.ts';
import { conflictOwners } from '../../kube/apply/conflict.ts';
import type { ObjectClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { WriteBackoff } from '../../kube/apply/write-backoff.ts';
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
  plannedConflicts,
  goneFinding,
  notKeptFinding,
  refusedFinding,
  wantedFinding,
} from './preparation-findings.ts';
import type { Poll } from '../poll-backoff.ts';
import { recordChange, writeRecord, type RecordChange } from './record-writes.ts';

/** What to prepare, for which Exposure, and by which policy. */
export interface PreparationInput {
  readonly policy: PreparePolicy;
  readonly provided: Pick<ProvidedFacts, 'provider' | 'objects'>;
  readonly spec: PreparationSpec;
  readonly owner: PreparationOwner;
  /** Called after each write to the Exposure, so that later writes of the same reconcile carry the new version. */
  readonly wrote?: (before: KubeObject, after: KubeObject) => void;
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

type WriteOutcome = Omit<PreparationOutcome, 'plans'>;

/** The maximum of attempts when other clients write at the same time. A preparation takes at most five writes. */
const MAX_ATTEMPTS = 10;
const BUSY: Poll = { reason: 'Busy', firstMs: 1_000 };

/** Options of a {@link Preparer}. */
export interface PreparerOptions {
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** The wall-clock time. Default: that of the system. */
  readonly now?: () => Date;
}

/** An Exposure and the objects of its control plane, as read from the API server. */
interface CurrentObjects {
  readonly exposure: KubeObject;
  readonly objects: readonly KubeObject[];
}

/** A write that a webhook has changed. */
interface NotKept {
  /** The key of the Exposure that it was for. */
  readonly owner: string;
  readonly content: string;
  readonly finding: Finding;
}

/** Prepares the objects of control planes in one management cluster. */
export class Preparer {
  readonly #client: ObjectClient;
  /** Repeated writes, by the uid of the object. */
  readonly #repeats: WriteBackoff;
  /** Objects whose last write was changed by a webhook, by uid. */
  readonly #notKept = new Map<string, NotKept>();
  /** Keys of Exposures, by the uid of the object that they prepare: the watch reports the record later. */
  readonly #claims = new Map<string, string>();

  constructor(client: ObjectClient, { clock = systemClock, now }: PreparerOptions = {}) {
    this.#client = client;
    this.#repeats = new WriteBackoff(clock, now);
  }

  /** The Exposure of this key is gone. */
  forget(exposure: string): void {
    this.#release(exposure);
    for (const [uid, { owner }] of this.#notKept) {
      if (owner === exposure) this.#notKept.delete(uid);
    }
  }

  /** Releases the claims of an Exposure. */
  #release(exposure: string): void {
    for (const [uid, owner] of this.#claims) if (owner === exposure) this.#claims.delete(uid);
  }

  /** Writes the fields that the objects lack. @throws KubeError for an error to retry */
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
      // The observed objects may come from a watch. Writes need the current versions.
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
  ): Promise<CurrentObjects | Finding> {
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

  /** One step: first the record, then the objects, then the record without obsolete fields. */
  async #write(
    input: PreparationInput,
    { exposure }: CurrentObjects,
    plans: readonly PreparationPlan[],
    signal: AbortSignal,
  ): Promise<WriteOutcome | 'again'> {
    const isForced = input.policy === 'Force';
    const findings = [...findingsOf(plans)];
    const due = plans.filter(isToWrite);
    // Checked for all objects before the first write, so that none is written if another cannot be.
    const conflicts = isForced ? [] : due.flatMap(plannedConflicts);
    if (conflicts.length > 0) return { isPrepared: false, findings: [...conflicts, ...findings] };
    for (const plan of due) {
      // Backs off if another client reverts the fields: each write may roll out the API server.
      const requeueAfterMs = this.#repeats.waitMs(uidOf(plan), contentOf(plan));
      if (requeueAfterMs > 0) {
        return {
          isPrepared: false,
          findings: [this.#revertedFinding(plan), ...findings],
          requeueAfterMs,
        };
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

  /** Checks the objects after the writes: a webhook may have changed them. */
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
      this.#notKept.set(uidOf(plan), { owner: key, content: contentOf(plan), finding });
      return [finding];
    });
    if (notKept.length > 0) {
      return { isPrepared: false, findings: [...notKept, ...findingsOf(plans)] };
    }
    return withoutWriting(present.exposure, plans, policy) ?? 'again';
  }

  /** Writes the record to this version of the Exposure, and claims the objects until the watch reports it. @throws KubeError */
  async #record(
    { metadata }: KubeObject,
    { to: text, uids }: RecordChange,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const key = keyText(metadata);
    // Before the write: the watch may report that the record loses an object before the response arrives.
    this.#release(key);
    for (const uid of uids) this.#claims.set(uid, key);
    let written: KubeObject | undefined;
    try {
      written = await writeRecord(this.#client, metadata, text, signal);
      return written;
    } finally {
      // Without a record there is no claim.
      if (written === undefined) for (const uid of uids) this.#claims.delete(uid);
    }
  }

  async #writeOne(
    plan: PreparationPlan,
    force: boolean,
    signal: AbortSignal,
  ): Promise<readonly Finding[] | 'written' | 'again'> {
    const { resource, live, body, restoredValues, staying } = plan;
    const { resourceVersion, managedFields = [] } = live.metadata;
    try {
      if (restoredValues.length > 0) {
        const patch = {
          metadata: { resourceVersion },
          ...treeOf(restoredValues.map(({ path, value }) => [path, value] as const)),
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
      const [uid, content] = [uidOf(plan), contentOf(plan)];
      this.#repeats.add(uid, content);
      this.#notKept.delete(uid);
      return 'written';
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return [goneFinding(live)];
      if (isKubeError(error, 'Invalid')) return [refusedFinding(plan, error)];
      if (isKubeError(error, 'Forbidden')) return [forbiddenFinding(plan)];
      if (!isKubeError(error, 'Conflict')) throw error;
      const owners = conflictOwners(error);
      // A conflict without owners is a conflict of versions: another client has written, or the object is gone.
      if (owners.length === 0) return 'again';
      // A patch by Snicket counts as another owner, because its operation is Update and not Apply.
      const others = owners.filter(({ manager }) => manager !== OWN_MANAGER);
      return others.length === 0
        ? this.#writeOne(plan, true, signal)
        : conflictFindings(plan, others);
    }
  }

  /** The finding about a reverted write, until it is written again. */
  #revertedFinding(plan: PreparationPlan): Finding {
    const [uid, content] = [uidOf(plan), contentOf(plan)];
    const notKept = this.#notKept.get(uid);
    if (notKept?.content === content) return notKept.finding;
    return contestedFinding(plan, this.#repeats.revertedSince(uid, content));
  }
}

/** The preparation without writes: conflicts are derived from the observed field managers. */
export function plannedPreparation({
  policy,
  provided,
  spec,
  owner,
}: PreparationInput): PreparationOutcome {
  const plans = planProvided(provided, spec, owner, provided.objects);
  const known = withoutWriting(owner.exposure, plans, policy);
  if (known !== undefined) return { plans, ...known };
  const conflicts = policy === 'Force' ? [] : plans.filter(isToWrite).flatMap(plannedConflicts);
  const findings = [...conflicts, ...findingsOf(plans)];
  return { plans, isPrepared: conflicts.length === 0, findings };
}

/** The result if nothing is to be written: an error, the policy Report, or complete objects. Undefined: there are writes. */
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

/** Whether fields are missing or to be restored. */
function isToWrite({ isDue, restoredValues }: PreparationPlan): boolean {
  return isDue || restoredValues.length > 0;
}

/** The findings, errors first. */
function findingsOf(plans: readonly PreparationPlan[]): readonly Finding[] {
  const all = plans.flatMap(({ findings }) => findings);
  return [
    ...all.filter(({ severity }) => severity === 'error'),
    ...all.filter(({ severity }) => severity === 'warning'),
  ];
}

function uidOf({ live }: PreparationPlan): string {
  return live.metadata.uid ?? keyText(live.metadata);
}

/** The desired fields. Not the live ones: a client that reverts them may write another value each time. */
function contentOf({ fields }: PreparationPlan): string {
  return JSON.stringify(fields.map(({ path, own }) => [path, own]));
}
