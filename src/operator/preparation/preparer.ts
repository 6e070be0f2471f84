/**
 * Writes into providers' objects what they must carry, and puts everything back. What to write is planned elsewhere; here
 * is who may be overwritten, what happens in between, and when to stop.
 */
import type { PreparePolicy } from '../../api/exposure.ts';
import { systemClock, type Clock } from '../../engine/clock.ts';
import { conflictOwners } from '../../kube/apply-conflict.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { Repeats } from '../../kube/repeats.ts';
import type { Finding } from '../../api/finding.ts';
import type { ProvidedFacts } from '../../providers/control-plane-reading.ts';
import { valueAt } from '../../edges/fields.ts';
import { treeOf } from '../../providers/preparation/field-path.ts';
import type { Holder, PreparationPlan } from '../../providers/preparation/plan-preparation.ts';
import type { PreparationWish } from '../../providers/preparation/preparation.ts';
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

/** Prepares the objects of control planes in one management cluster. */
export class Preparer {
  readonly #client: KubeClient;
  /** By the uid of an object. */
  readonly #repeats: Repeats;

  constructor(client: KubeClient, { clock = systemClock }: { readonly clock?: Clock } = {}) {
    this.#client = client;
    this.#repeats = new Repeats(clock);
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
    for (const plan of plans.filter(isToWrite)) {
      // Without force, whoever undoes it is a conflict, and is named.
      const waitMs = policy === 'Force' ? this.#waitMs(plan) : 0;
      if (waitMs > 0) {
        const contested = contestedFinding(plan, waitMs);
        return { isPrepared: false, findings: [contested, ...findings], lookAgainMs: waitMs };
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
    const { resource, live, body, putBack, fields } = plan;
    try {
      if (putBack.length > 0) {
        const patch = {
          metadata: { resourceVersion: live.metadata.resourceVersion },
          ...treeOf(putBack.map(({ path, value }) => [path, value] as const)),
        };
        await this.#client.patch(resource, live.metadata, 'merge', patch, { signal });
        return 'again';
      }
      const after = await this.#client.apply(body, { force, resource, signal });
      this.#repeats.add(placeOf(plan), contentOf(plan));
      const lacking = fields
        .map((field) => ({ ...field, now: valueAt(after, ...field.path) }))
        .filter(({ now, wanted }) => !Bun.deepEquals(now, wanted));
      return lacking.length === 0 ? 'written' : [notKeptFinding(live, lacking)];
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return [goneFinding(live)];
      if (isKubeError(error, 'Invalid')) return [refusedFinding(plan, error)];
      if (isKubeError(error, 'Forbidden')) return [forbiddenFinding(plan)];
      if (!isKubeError(error, 'Conflict')) throw error;
      // Without owners it is the version that is another: somebody wrote in between, or the object is gone.
      return conflictOwners(error).length === 0 ? 'again' : conflictFindings(plan, error);
    }
  }

  #waitMs(plan: PreparationPlan): number {
    if (plan.differing.length === 0) return 0;
    return this.#repeats.waitMs(placeOf(plan), contentOf(plan));
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

function isToWrite({ isDue, putBack }: PreparationPlan): boolean {
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

function placeOf({ live }: PreparationPlan): string {
  return live.metadata.uid ?? keyText(live.metadata);
}

function contentOf({ fields }: PreparationPlan): string {
  return JSON.stringify(fields.map(({ path, wanted }) => [path, wanted]));
}
