/**
 * Writes the planned fields to the objects of providers. Handles field conflicts, concurrent writes, and clients or webhooks that
 * revert the fields.
 */
import type { Clock } from '../../clock/clock.ts';
import { conflictOwners } from '../../kube/apply/conflict.ts';
import type { ObjectClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { WriteBackoff } from '../../kube/apply/write-backoff.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';
import { OWN_MANAGER, ownersPatch, released } from '../../providers/preparation/field-owners.ts';
import { treeOf } from '../../providers/preparation/field-path.ts';
import type { PreparationPlan } from '../../providers/preparation/plan-preparation.ts';
import { planProvided } from '../../providers/plan-provided.ts';
import { resourceOfProvider } from '../../providers/provider-for.ts';
import {
  busyFinding,
  conflictFindings,
  contestedFinding,
  forbiddenFinding,
  goneFinding,
  notKeptFinding,
  refusedFinding,
} from './preparation-findings.ts';
import {
  findingsOf,
  nextStep,
  withoutWriting,
  type HeldBack,
  type PreparationInput,
  type PreparationOutcome,
  type WriteOutcome,
} from './next-step.ts';
import type { Poll } from '../poll-backoff.ts';
import { writeRecord, type RecordChange } from './record-writes.ts';

/** The maximum of attempts when other clients write at the same time. A preparation takes at most five writes. */
const MAX_ATTEMPTS = 10;
const BUSY: Poll = { reason: 'Busy', firstMs: 1_000 };

interface PreparerOptions {
  readonly clock: Clock;
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

  constructor(client: ObjectClient, { clock, now }: PreparerOptions) {
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

  /**
   * Writes the fields that the objects lack. Calls `wrote` after each write to the Exposure, so that later writes of the same
   * reconcile carry the new version. @throws KubeError for an error to retry
   */
  async prepare(
    input: PreparationInput,
    signal: AbortSignal,
    wrote: (before: KubeObject, after: KubeObject) => void = () => {},
  ): Promise<PreparationOutcome> {
    const { provided, policy, owner } = input;
    const plans = this.#plan(input, owner.exposure, provided.objects);
    const known = withoutWriting(owner.exposure, plans, policy);
    return { plans, ...(known ?? (await this.#prepare(input, signal, wrote))) };
  }

  /** Observe, plan and apply one step after the other, until nothing is left to write. */
  async #prepare(
    input: PreparationInput,
    signal: AbortSignal,
    wrote: (before: KubeObject, after: KubeObject) => void,
  ): Promise<WriteOutcome> {
    const { provided, policy, owner } = input;
    const heldBack = (plan: PreparationPlan) => this.#heldBack(plan);
    let written: readonly PreparationPlan[] = [];
    for (let attempt = 1; ; attempt++) {
      // The observed objects may come from a watch. Writes need the current versions.
      const current = await readObjects(this.#client, owner.exposure, provided.objects, signal);
      if ('code' in current) return { isPrepared: false, findings: [current] };
      const { exposure, objects } = current;
      const plans = this.#plan(input, exposure, objects);
      const findings = findingsOf(plans);
      const notKept = this.#changedSince(written, plans, keyText(exposure.metadata));
      if (notKept.length > 0) return { isPrepared: false, findings: [...notKept, ...findings] };
      const step = nextStep(exposure, plans, policy, heldBack);
      if (step.kind === 'Done') return step.outcome;
      if (attempt > MAX_ATTEMPTS) {
        return { isPrepared: false, findings: [busyFinding(objects), ...findings], poll: BUSY };
      }
      written = [];
      if (step.kind === 'Record') {
        const after = await this.#record(exposure, step.change, signal);
        if (after !== undefined) wrote(exposure, after);
        continue;
      }
      const failed = await this.#write(step.plans, policy === 'Force', signal);
      if (failed === undefined) written = step.plans;
      else if (failed !== 'again') return { isPrepared: false, findings: [...failed, ...findings] };
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

  /** Why a plan is not written yet: another client reverts the fields, and each write may roll out the API server. */
  #heldBack(plan: PreparationPlan): HeldBack | undefined {
    const requeueAfterMs = this.#repeats.waitMs(uidOf(plan), contentOf(plan));
    return requeueAfterMs > 0
      ? { finding: this.#revertedFinding(plan), requeueAfterMs }
      : undefined;
  }

  /** The findings about objects that differ right after they were written: a webhook has changed them. */
  #changedSince(
    written: readonly PreparationPlan[],
    plans: readonly PreparationPlan[],
    owner: string,
  ): readonly Finding[] {
    return plans.flatMap((plan) => {
      const isWritten = written.some(({ live }) => live.metadata.uid === plan.live.metadata.uid);
      if (!isWritten || plan.differing.length === 0) return [];
      const finding = notKeptFinding(plan.live, plan.differing);
      this.#notKept.set(uidOf(plan), { owner, content: contentOf(plan), finding });
      return [finding];
    });
  }

  /** Writes the objects. Returns what prevents it, or that one of them has to be read again. @throws KubeError */
  async #write(
    plans: readonly PreparationPlan[],
    isForced: boolean,
    signal: AbortSignal,
  ): Promise<readonly Finding[] | 'again' | undefined> {
    for (const plan of plans) {
      const result = await this.#writeOne(plan, isForced, signal);
      if (result !== 'written') return result;
    }
    return undefined;
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

/** Reads the Exposure and the objects from the API server; the finding if one of them is gone. @throws KubeError */
async function readObjects(
  client: ObjectClient,
  exposure: KubeObject,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<CurrentObjects | Finding> {
  const fresh: KubeObject[] = [];
  for (const object of objects) {
    const found = await client.get(resourceOfProvider(object), object.metadata, { signal });
    if (found === undefined || found.metadata.uid !== object.metadata.uid) {
      return goneFinding(object);
    }
    fresh.push(found);
  }
  const found = await client.get(RESOURCES.exposure, exposure.metadata, { signal });
  if (found === undefined || found.metadata.uid !== exposure.metadata.uid) {
    return goneFinding(exposure);
  }
  return { exposure: found, objects: fresh };
}

function uidOf({ live }: PreparationPlan): string {
  return live.metadata.uid ?? keyText(live.metadata);
}

/** The desired fields. Not the live ones: a client that reverts them may write another value each time. */
function contentOf({ fields }: PreparationPlan): string {
  return JSON.stringify(fields.map(({ path, ownValue }) => [path, ownValue]));
}
