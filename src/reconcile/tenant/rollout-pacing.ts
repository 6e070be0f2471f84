/**
 * Paces the rollouts of a new release, and of a change of an Edge, across tenants. Pure decisions; {@link RolloutPacer} remembers what they depend on.
 *
 * The state of each tenant comes from its DaemonSet, so that a new leader continues where the previous one stopped.
 */
import type { Clock } from '../../clock/clock.ts';

/**
 * Where a tenant is on its way to the release and its Edge. Pending: its template is that of another release or Edge. Active:
 * pods are being replaced. Failed: that has stopped, in a tenant that was healthy before. A tenant that is done,
 * or has failed for an hour, has no phase.
 */
export type RolloutPhase = 'Pending' | 'Active' | 'Failed';

/** What the DaemonSet of a tenant says. */
export interface RolloutObservation {
  /** Its template is that of another release or Edge. */
  readonly isBehind: boolean;
  /** The DaemonSet controller of the tenant has seen the template. */
  readonly isObserved: boolean;
  /** Every node runs a pod of it. */
  readonly isUpdated: boolean;
  /** The rollout has not moved for too long. */
  readonly isStuck: boolean;
  /** Every node has a proxy that is ready, of whatever template. */
  readonly isHealthy: boolean;
  /** The Exposure names an image, which is not that of the release. */
  readonly hasOwnImage: boolean;
}

/** What this process knows about the start of a rollout. */
interface RolloutOrigin {
  /** Whether the Exposure changed, or the tenant is new. */
  readonly isOwn: boolean;
  readonly wasHealthy: boolean;
}

/** The phase of a tenant; undefined if its rollout is none of the wave's, or is done. */
export function phaseOf(
  observation: RolloutObservation,
  origin: RolloutOrigin | undefined,
): RolloutPhase | undefined {
  const { isBehind, isObserved, isUpdated, isStuck, isHealthy, hasOwnImage } = observation;
  if (isBehind) return 'Pending';
  if ((isObserved && isUpdated) || origin?.isOwn === true) return undefined;
  if (!isStuck) return 'Active';
  // The controllers of the tenant do not run. That says nothing of the release.
  if (!isObserved) return undefined;
  // With maxUnavailable 0 the previous pods of a tenant that was healthy still serve.
  const wasHealthy = origin?.wasHealthy ?? (isHealthy && !hasOwnImage);
  return wasHealthy ? 'Failed' : undefined;
}

/** How long a tenant keeps its place while its reconciles fail. */
const UNOBSERVED_MS = 5 * 60_000;

/** For how long the failed rollout of one tenant pauses the others. */
const PAUSE_MS = 60 * 60_000;

/** The reasons of WorkersReady while the proxies of a tenant wait for a new template. */
const WAIT_REASONS = ['RolloutPending', 'RolloutPaused'] as const;

/** Whether a reason of WorkersReady means that the proxies wait for a new template. */
export function isRolloutReason(reason: string): boolean {
  return WAIT_REASONS.some((waitReason) => waitReason === reason);
}

/** Whether a tenant may start. */
export type RolloutDecision =
  | { readonly mayStart: true }
  | {
      readonly mayStart: false;
      readonly reason: (typeof WAIT_REASONS)[number];
      readonly message: string;
    };

/** What a decision depends on. */
export interface Wave {
  /** In a rollout. */
  readonly active: number;
  /** The tenants whose rollout failed, in order. */
  readonly failed: readonly string[];
  readonly maxConcurrent: number;
  /** Whether the operator has observed every tenant: before that, it may not know of all that are active. */
  readonly isComplete: boolean;
}

/** Whether one more tenant may start. */
export function decideRollout({
  active,
  failed,
  maxConcurrent,
  isComplete,
}: Wave): RolloutDecision {
  const [first, ...others] = failed;
  if (first !== undefined) {
    const more = others.length === 0 ? '' : ` and of ${others.length} others`;
    const message = `A new template waits because the rollout of Exposure ${first}${more} failed. Fix that tenant, or wait: a failed rollout pauses the others for an hour. The proxies of this tenant serve with the previous template.`;
    return { mayStart: false, reason: 'RolloutPaused', message };
  }
  if (!isComplete) {
    const message = 'A new template waits until the operator has observed every tenant.';
    return { mayStart: false, reason: 'RolloutPending', message };
  }
  if (active >= maxConcurrent) {
    const message = `A new template waits for ${active} other rollouts.`;
    return { mayStart: false, reason: 'RolloutPending', message };
  }
  return { mayStart: true };
}

interface RolloutPacerOptions {
  /** How many tenants may be in a rollout together. */
  readonly maxConcurrent: number;
  /** How many Exposures there are. */
  readonly exposures: () => number;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** A tenant that waits should ask again, or report another reason. */
  readonly onChange: (exposure: string) => void;
}

/** The rollouts of all tenants. */
export class RolloutPacer {
  readonly #options: RolloutPacerOptions;
  readonly #phases = new Map<string, RolloutPhase>();
  readonly #origins = new Map<string, RolloutOrigin>();
  readonly #observed = new Set<string>();
  /** The tenants that the current reconcile of their Exposure has observed. */
  readonly #isCurrent = new Set<string>();
  /** When each tenant was observed last. */
  readonly #observedMs = new Map<string, number>();
  /** When each tenant failed first. Kept when it recovers: a tenant that fails again and again gets no other hour. */
  readonly #failedMs = new Map<string, number>();
  readonly #counts: Record<RolloutPhase, number> = { Pending: 0, Active: 0, Failed: 0 };
  #isComplete = false;
  /** Whether the tenants that wait have RolloutPaused as their reason. */
  #isPaused = false;

  constructor(options: RolloutPacerOptions) {
    this.#options = options;
  }

  /** How many tenants are in each phase. */
  get counts(): Readonly<Record<RolloutPhase, number>> {
    return this.#counts;
  }

  /** Requests to start the rollout of a tenant that is behind. If it may start, it is Active from now on. */
  request(exposure: string, wasHealthy: boolean): RolloutDecision {
    this.#confirm(exposure);
    // Its rollout of the previous template is over: the tenant does not wait for itself.
    this.#set(exposure, 'Pending');
    const decision = decideRollout(this.#wave());
    if (decision.mayStart) {
      this.#origins.set(exposure, { isOwn: false, wasHealthy });
      this.#set(exposure, 'Active');
    }
    return decision;
  }

  /** The Exposure of a tenant has changed, or the tenant is new. Its rollout does not count. */
  startedOwn(exposure: string): void {
    this.#confirm(exposure);
    this.#origins.set(exposure, { isOwn: true, wasHealthy: false });
    this.#set(exposure, undefined);
  }

  /** What the DaemonSet of a tenant says after a reconcile. */
  observe(exposure: string, observation: RolloutObservation): void {
    this.#confirm(exposure);
    const phase = phaseOf(observation, this.#origins.get(exposure));
    const mayPause = phase !== 'Failed' || this.#mayPause(exposure);
    this.#set(exposure, mayPause ? phase : undefined);
    if (observation.isObserved && observation.isUpdated) this.#origins.delete(exposure);
  }

  /** A reconcile of an Exposure has ended. If it did not observe the tenant, the tenant has no phase. */
  reconciled(exposure: string): void {
    if (!this.#isCurrent.delete(exposure)) this.#set(exposure, undefined);
    this.#count(exposure);
  }

  /**
   * A reconcile of an Exposure has failed, and the queue retries it. A rollout that has started keeps its phase
   * for {@link UNOBSERVED_MS}: a short outage of the management cluster must not start others.
   */
  interrupted(exposure: string): void {
    const isCurrent = this.#isCurrent.delete(exposure);
    const sinceMs = this.#options.clock.nowMs() - (this.#observedMs.get(exposure) ?? 0);
    const isPending = this.#phases.get(exposure) === 'Pending';
    if (!isCurrent && (isPending || sinceMs >= UNOBSERVED_MS)) this.#set(exposure, undefined);
    this.#count(exposure);
  }

  /** The administrator of one tenant can make its rollout fail, and must not stop the release for all. */
  #mayPause(exposure: string): boolean {
    const nowMs = this.#options.clock.nowMs();
    const sinceMs = this.#failedMs.getOrInsert(exposure, nowMs);
    return nowMs - sinceMs < PAUSE_MS;
  }

  #confirm(exposure: string): void {
    this.#isCurrent.add(exposure);
    this.#observedMs.set(exposure, this.#options.clock.nowMs());
  }

  #count(exposure: string): void {
    this.#observed.add(exposure);
    if (this.#isComplete || this.#observed.size < this.#options.exposures()) return;
    this.#isComplete = true;
    this.#wake();
  }

  /** The tenant does not answer, or another owner manages it: it takes no place until its DaemonSet is observed again. */
  unreachable(exposure: string): void {
    this.#set(exposure, undefined);
  }

  /** The Exposure is gone. */
  forget(exposure: string): void {
    this.#origins.delete(exposure);
    this.#observed.delete(exposure);
    this.#isCurrent.delete(exposure);
    this.#observedMs.delete(exposure);
    this.#failedMs.delete(exposure);
    this.#set(exposure, undefined);
  }

  #wave(): Wave {
    const { Active: active, Failed: count } = this.#counts;
    return {
      active,
      failed: count === 0 ? [] : this.#keysIn('Failed').toSorted(),
      maxConcurrent: this.#options.maxConcurrent,
      isComplete: this.#isComplete,
    };
  }

  #set(exposure: string, phase: RolloutPhase | undefined): void {
    const before = this.#phases.get(exposure);
    if (before === phase) return;
    if (before !== undefined) this.#counts[before]--;
    if (phase === undefined) this.#phases.delete(exposure);
    else {
      this.#phases.set(exposure, phase);
      this.#counts[phase]++;
    }
    // A tenant that starts takes a slot, and one that starts to wait has just requested one: neither frees a slot.
    if (phase === undefined || phase === 'Failed' || before === 'Failed') this.#wake();
  }

  /** Lets as many tenants request as may start; all, if the reason of the waiting ones has changed. */
  #wake(): void {
    const { Pending: pending, Active: active, Failed: failed } = this.#counts;
    const isPaused = failed > 0;
    const hasTurned = isPaused !== this.#isPaused;
    this.#isPaused = isPaused;
    const free = isPaused ? 0 : Math.max(0, this.#options.maxConcurrent - active);
    const count = hasTurned ? pending : Math.min(pending, free);
    if (count === 0) return;
    for (const exposure of this.#keysIn('Pending').slice(0, count))
      this.#options.onChange(exposure);
  }

  #keysIn(phase: RolloutPhase): readonly string[] {
    return [...this.#phases].flatMap(([exposure, current]) =>
      current === phase ? [exposure] : [],
    );
  }
}
