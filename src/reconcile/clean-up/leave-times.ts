/**
 * How long Exposures that are on their way out are still waited for.
 *
 * Their time begins with their deletion, and not anew with each process that goes on with them. One that was away
 * meanwhile, or whose date is ahead, tries for a while nevertheless before it gives up. From its first look on, a clock
 * counts that never goes back.
 */
import type { Clock } from '../../clock/clock.ts';
import type { ObjectMeta } from '../../kube/object.ts';

/** At least so long a process tries, if it finds the time over: enough for a few attempts. */
const FAIR_TRY_MS = 60_000;

interface Attempts {
  /** Of the Exposure: another of the same name has its own time. */
  readonly uid: string | undefined;
  readonly sinceMs: number;
  /** From the deletion to the first look. */
  readonly beforeMs: number;
  /** From the first look on. */
  readonly allowedMs: number;
  /** Since when the virtual address is being taken off the nodes. */
  addressSinceMs?: number;
  /** When it ends, for people: once told, it is the same in every telling. */
  end?: { readonly atMs: number; readonly date: Date };
}

/** What is left of the time for one Exposure. */
export interface LeaveTime {
  /** Since its deletion. */
  readonly waitedMs: number;
  /** Half of the time of this process is over. */
  readonly isHalfOver: boolean;
  /** At 0, what is not done stays undone. */
  readonly leftMs: number;
  /** The same, on the clock of people. */
  readonly givesUpAt: Date;
  /** Whether the nodes have had their time to take the virtual address off, which begins with the first call. */
  addressIsLate(): boolean;
}

/** What tells one Exposure from the next of its name, and since when it leaves. */
type Leaver = Pick<ObjectMeta, 'uid' | 'deletionTimestamp'>;

/** The times of all Exposures that leave. */
export class LeaveTimes {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #now: () => Date;
  readonly #attempts = new Map<string, Attempts>();

  constructor(timeoutMs: number, clock: Clock, now = () => clock.now()) {
    this.#now = now;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  /** For the Exposure of this key and metadata. */
  timeOf(key: string, { uid, deletionTimestamp }: Leaver): LeaveTime {
    const nowMs = this.#clock.nowMs();
    const known = this.#attempts.get(key);
    const attempts: Attempts =
      known?.uid === uid && known
        ? known
        : { uid, sinceMs: nowMs, ...this.#timeSince(deletionTimestamp) };
    this.#attempts.set(key, attempts);
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

  forget(key: string): void {
    this.#attempts.delete(key);
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
