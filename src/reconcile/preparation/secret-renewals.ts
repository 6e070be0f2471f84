/**
 * Makes providers create Secrets again that they created too early: deletes them in namespaces where Snicket has that permission.
 * Only Secrets that belong to the provider's object and are out of date are deleted, with backoff.
 */
import type { Clock } from '../../clock/clock.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type ObjectKey } from '../../kube/object.ts';
import { WriteBackoff } from '../../kube/apply/write-backoff.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { Secret } from '../../providers/reading/control-plane-reading.ts';
import type { RenewableSecret } from '../../providers/reading/renewable-secrets.ts';
import type { ManagementAccess } from '../../management/management-view.ts';
import { soonest } from '../requeue.ts';

interface SecretRenewalsOptions {
  readonly management: Pick<ManagementAccess, 'client' | 'secret' | 'currentSecret'>;
  /** How long a provider has to create a Secret again by itself. Default 20,000. */
  readonly renewAfterMs?: number | undefined;
  readonly clock: Clock;
}

/** The result of a renewal. */
export interface Renewal {
  /** The Secrets that were deleted. Their provider creates them again. */
  readonly deleted: readonly ObjectKey[];
  /** When to reconcile again. Absent: when something changes. */
  readonly requeueAfterMs?: number | undefined;
}

/** The delay until a delete is retried that was forbidden. */
const FORBIDDEN_MS = 60_000;
/** A provider creates a Secret within seconds. */
const CREATED_MS = 5_000;

/** The Secrets of one Exposure that are out of date, by name. */
export type StaleSecrets = Map<string, Stale>;

interface Stale {
  readonly uid: string | undefined;
  readonly sinceMs: number;
  readonly forbiddenAtMs?: number;
}

type Step = { readonly deleted: ObjectKey } | { readonly waitMs: number | undefined };

/** The renewals of all Exposures. */
export class SecretRenewals {
  readonly #management: SecretRenewalsOptions['management'];
  readonly #renewAfterMs: number;
  readonly #clock: Clock;
  readonly #repeats: WriteBackoff;

  constructor({ management, renewAfterMs = 20_000, clock }: SecretRenewalsOptions) {
    this.#management = management;
    this.#renewAfterMs = renewAfterMs;
    this.#clock = clock;
    this.#repeats = new WriteBackoff(clock);
  }

  /**
   * Deletes Secrets that have been out of date for long enough; with `isLast` at once, because there is no next attempt.
   * @throws KubeError
   */
  async renew(
    known: StaleSecrets,
    secrets: readonly RenewableSecret[],
    { isLast = false, signal }: { readonly isLast?: boolean; readonly signal: AbortSignal },
  ): Promise<Renewal> {
    const deleted: ObjectKey[] = [];
    const waitsMs: (number | undefined)[] = [];
    for (const secret of secrets) {
      const step = await this.#renewOne(secret, known, isLast, signal);
      if (step === undefined) continue;
      if ('deleted' in step) deleted.push(step.deleted);
      waitsMs.push('deleted' in step ? CREATED_MS : step.waitMs);
    }
    return { deleted, requeueAfterMs: soonest(...waitsMs) };
  }

  /** Undefined: the Secret is up to date, missing, or not the provider's. */
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
    const { forbiddenAtMs = Number.NEGATIVE_INFINITY } = stale;
    const forbiddenMs = forbiddenAtMs + FORBIDDEN_MS - this.#clock.nowMs();
    if (forbiddenMs > 0 && !isLast) return { waitMs: isNeeded ? forbiddenMs : undefined };
    const subject = `${keyText(key)} ${secret.owner.metadata.uid}`;
    // During cleanup other fields are out of date.
    const lacking = isLast ? 'left' : 'desired';
    const afterMs = isLast ? 0 : this.#renewAfterMs;
    const waitMs = Math.max(
      stale.sinceMs + afterMs - this.#clock.nowMs(),
      this.#repeats.waitMs(subject, lacking),
    );
    if (waitMs > 0) return { waitMs };
    const outcome = await this.#delete(secret, seen, signal);
    if (outcome === 'another') return { waitMs: CREATED_MS };
    if (outcome === 'refused') {
      known.set(key.name, { ...stale, forbiddenAtMs: this.#clock.nowMs() });
      return { waitMs: isNeeded ? FORBIDDEN_MS : undefined };
    }
    this.#repeats.add(subject, lacking);
    known.delete(key.name);
    return { deleted: key };
  }

  /** Deletes the Secret if it is still the one that was observed: the provider may have created another. */
  async #delete(
    secret: RenewableSecret,
    seen: Secret,
    signal: AbortSignal,
  ): Promise<'deleted' | 'another' | 'refused'> {
    const management = this.#management;
    const { key } = secret;
    const live = await management.currentSecret(key, signal);
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
    // Updates the cache for the next reconcile.
    await management.currentSecret(key, signal);
    return 'deleted';
  }

  /** Records since when this Secret is out of date. */
  #noted({ metadata: { name, uid } }: Secret, known: StaleSecrets): Stale {
    const before = known.get(name);
    if (before !== undefined && before.uid === uid) return before;
    const stale = { uid, sinceMs: this.#clock.nowMs() };
    known.set(name, stale);
    return stale;
  }
}

/** Whether a Secret is out of date and owned by the provider's object. A Secret that a user has created is left alone. */
function isToRenew(secret: Secret, { owner, isStale }: RenewableSecret): boolean {
  const { ownerReferences = [], deletionTimestamp } = secret.metadata;
  const isOwned = ownerReferences.some(
    ({ controller, uid }) => controller === true && uid === owner.metadata.uid,
  );
  return isOwned && deletionTimestamp === undefined && isStale(secret);
}
