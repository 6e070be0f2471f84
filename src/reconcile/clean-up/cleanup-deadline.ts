/**
 * How long the cleanup of a deleted Exposure waits for what it cannot reach.
 *
 * The time begins with the deletion, and a restart of the operator does not extend it. An operator that finds it over, because
 * it was down or its clock is wrong, still tries for a while before it gives up. From then on a monotonic clock counts.
 */
import type { Clock } from '../../clock/clock.ts';
import type { ObjectMeta } from '../../kube/object.ts';

/** How long a process tries at least, if it finds the time over: enough for a few attempts. */
const FAIR_TRY_MS = 60_000;

interface Attempts {
  /** Of the Exposure: another one of the same name has its own deadline. */
  readonly uid: string | undefined;
  readonly sinceMs: number;
  /** From the deletion to the first attempt. */
  readonly beforeMs: number;
  /** From the first attempt on. */
  readonly allowedMs: number;
  /** Since when the virtual address is being taken off the nodes. */
  addressSinceMs?: number;
  /** When it ends, in wall-clock time. Once reported, it does not change. */
  end?: { readonly atMs: number; readonly date: Date };
}

/** The time that a cleanup has left. */
export interface CleanupTime {
  /** Since its deletion. */
  readonly waitedMs: number;
  /** Half of the time of this process is over. */
  readonly isHalfOver: boolean;
  /** At 0, what is not done stays undone. */
  readonly leftMs: number;
  /** The same in wall-clock time. */
  readonly givesUpAt: Date;
  /** Whether the nodes have had their time to take the virtual address off, which begins with the first call. */
  addressIsLate(): boolean;
}

/** The deadline for one Exposure. */
export class CleanupDeadline {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #now: () => Date;
  #attempts: Attempts | undefined;

  constructor(timeoutMs: number, clock: Clock, now = () => clock.now()) {
    this.#now = now;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  /** The time that the Exposure with this metadata has left. */
  timeLeft({ uid, deletionTimestamp }: Pick<ObjectMeta, 'uid' | 'deletionTimestamp'>): CleanupTime {
    const nowMs = this.#clock.nowMs();
    const known = this.#attempts;
    const attempts: Attempts =
      known !== undefined && known.uid === uid
        ? known
        : { uid, sinceMs: nowMs, ...this.#timeSince(deletionTimestamp) };
    this.#attempts = attempts;
    const { sinceMs, beforeMs, allowedMs, addressSinceMs = sinceMs - this.#addressMs } = attempts;
    // Nodes that were reached late have their time nevertheless.
    const endMs = Math.max(sinceMs + allowedMs, addressSinceMs + this.#addressMs);
    const leftMs = Math.max(0, endMs - nowMs);
    if (attempts.end?.atMs !== endMs) {
      attempts.end = { atMs: endMs, date: new Date(this.#now().getTime() + Math.round(leftMs)) };
    }
    return {
      waitedMs: beforeMs + nowMs - sinceMs,
      isHalfOver: nowMs - sinceMs > allowedMs / 2,
      leftMs,
      givesUpAt: attempts.end.date,
      addressIsLate: () => {
        attempts.addressSinceMs ??= nowMs;
        return nowMs - attempts.addressSinceMs >= this.#addressMs;
      },
    };
  }

  #timeSince(deletionTimestamp: string | undefined): Pick<Attempts, 'beforeMs' | 'allowedMs'> {
    const now = this.#now().getTime();
    const deletedMs = deletionTimestamp === undefined ? now : Date.parse(deletionTimestamp);
    const beforeMs = Math.max(0, now - deletedMs);
    const fairMs = Math.min(this.#timeoutMs, FAIR_TRY_MS);
    return { beforeMs, allowedMs: Math.max(fairMs, this.#timeoutMs - beforeMs) };
  }

  get #addressMs(): number {
    return this.#timeoutMs / 2;
  }
}
