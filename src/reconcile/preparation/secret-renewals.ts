/**
 * Has providers make their Secrets anew that they made too early: it deletes them, in namespaces where somebody has given
 * Snicket that right. Only those that belong to the provider's object and are out of date at that very moment; never often.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type ObjectKey } from '../../kube/object.ts';
import { Repeats } from '../../kube/apply/repeats.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { Secret } from '../../providers/reading/control-plane-reading.ts';
import type { RenewableSecret } from '../../providers/reading/renewable-secrets.ts';
import type { ManagementAccess } from '../../management/management-view.ts';

/** What {@link SecretRenewals} works with. */
export interface SecretRenewalsOptions {
  readonly management: Pick<ManagementAccess, 'client' | 'secret' | 'secretNow'>;
  /** How long a provider has to do it by itself; some do. Default 20,000. */
  readonly renewAfterMs?: number | undefined;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

/** What became of it. */
export interface Renewal {
  /** Those that are gone now, and come again. */
  readonly deleted: readonly ObjectKey[];
  /** When to look again; absent: when something changes. */
  readonly requeueAfterMs?: number | undefined;
}

/** A right that is missing is asked for again so late, and a Secret that clients need looked at so often. */
const REFUSED_MS = 60_000;
/** A provider makes a Secret within seconds. */
const MADE_MS = 5_000;

/** A Secret that is out of date, by its name. One map belongs to one Exposure. */
export type StaleSecrets = Map<string, Stale>;

interface Stale {
  readonly uid: string | undefined;
  readonly sinceMs: number;
  readonly refusedAtMs?: number;
}

type Step = { readonly deleted: ObjectKey } | { readonly waitMs: number | undefined };

/** The renewals of all Exposures. */
export class SecretRenewals {
  readonly #management: SecretRenewalsOptions['management'];
  readonly #renewAfterMs: number;
  readonly #clock: Clock;
  readonly #repeats: Repeats;

  constructor({ management, renewAfterMs = 20_000, clock = systemClock }: SecretRenewalsOptions) {
    this.#management = management;
    this.#renewAfterMs = renewAfterMs;
    this.#clock = clock;
    this.#repeats = new Repeats(clock);
  }

  /**
   * Deletes those that are out of date, and have been for long enough; at once if `isLast`, since there is no next time.
   * @throws KubeError
   */
  async renew(
    known: StaleSecrets,
    secrets: readonly RenewableSecret[],
    { isLast = false, signal }: { readonly isLast?: boolean; readonly signal: AbortSignal },
  ): Promise<Renewal> {
    const deleted: ObjectKey[] = [];
    const waitsMs: number[] = [];
    for (const secret of secrets) {
      const step = await this.#renewOne(secret, known, isLast, signal);
      if (step === undefined) continue;
      if ('deleted' in step) deleted.push(step.deleted);
      const waitMs = 'deleted' in step ? MADE_MS : step.waitMs;
      if (waitMs !== undefined) waitsMs.push(waitMs);
    }
    return { deleted, ...(waitsMs.length > 0 && { requeueAfterMs: Math.min(...waitsMs) }) };
  }

  /** Undefined: it is as it should be, or not there, or nobody's to delete. */
  async #renewOne(
    secret: RenewableSecret,
    known: StaleSecrets,
    isLast: boolean,
    signal: AbortSignal,
  ): Promise<Step | undefined> {
    const { key, isNeeded } = secret;
    const seen = await this.#management.secret(key, signal);
    if (seen === undefined || !isToRenew(seen, secret)) {
      known.delete(key.name);
      return undefined;
    }
    const stale = this.#noted(seen, known);
    const { refusedAtMs = Number.NEGATIVE_INFINITY } = stale;
    const refusedMs = refusedAtMs + REFUSED_MS - this.#clock.nowMs();
    if (refusedMs > 0 && !isLast) return { waitMs: isNeeded ? refusedMs : undefined };
    const place = `${keyText(key)} ${secret.owner.metadata.uid}`;
    // What it lacks is another thing when its tenant leaves.
    const lacking = isLast ? 'left' : 'desired';
    const afterMs = isLast ? 0 : this.#renewAfterMs;
    const waitMs = Math.max(
      stale.sinceMs + afterMs - this.#clock.nowMs(),
      this.#repeats.waitMs(place, lacking),
    );
    if (waitMs > 0) return { waitMs };
    const outcome = await this.#delete(secret, seen, signal);
    if (outcome === 'another') return { waitMs: MADE_MS };
    if (outcome === 'refused') {
      known.set(key.name, { ...stale, refusedAtMs: this.#clock.nowMs() });
      return { waitMs: isNeeded ? REFUSED_MS : undefined };
    }
    this.#repeats.add(place, lacking);
    known.delete(key.name);
    return { deleted: key };
  }

  /** What was seen may be a while ago: the provider may just have made another. */
  async #delete(
    secret: RenewableSecret,
    seen: Secret,
    signal: AbortSignal,
  ): Promise<'deleted' | 'another' | 'refused'> {
    const management = this.#management;
    const { key } = secret;
    const live = await management.secretNow(key, signal);
    const { uid, resourceVersion } = live?.metadata ?? {};
    if (live === undefined || uid !== seen.metadata.uid || !isToRenew(live, secret)) {
      return 'another';
    }
    try {
      await management.client.delete(RESOURCES.secret, key, { uid, resourceVersion, signal });
    } catch (error) {
      if (isKubeError(error, 'Conflict')) return 'another';
      if (isKubeError(error, 'Forbidden')) return 'refused';
      throw error;
    }
    // The next look is at what is there then.
    await management.secretNow(key, signal);
    return 'deleted';
  }

  /** Since when this very Secret is out of date. */
  #noted({ metadata: { name, uid } }: Secret, known: StaleSecrets): Stale {
    const before = known.get(name);
    if (before !== undefined && before.uid === uid) return before;
    const stale = { uid, sinceMs: this.#clock.nowMs() };
    known.set(name, stale);
    return stale;
  }
}

/** Out of date, and of the provider's making: whoever else may have put a Secret there of that name has his reasons. */
function isToRenew(secret: Secret, { owner, isStale }: RenewableSecret): boolean {
  const { ownerReferences = [], deletionTimestamp } = secret.metadata;
  const isOwned = ownerReferences.some(
    ({ controller, uid }) => controller === true && uid === owner.metadata.uid,
  );
  return isOwned && deletionTimestamp === undefined && isStale(secret);
}
