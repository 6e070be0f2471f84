/**
 * Since when Exposures are on their way out: by the operator's own attempts, on a clock that never goes back.
 *
 * Not by their deletionTimestamp: an operator that was away meanwhile, or whose date is ahead, would take the time for over
 * that it has not used.
 */
import type { Clock } from '../../engine/clock.ts';

interface Attempts {
  /** Of the Exposure: another of the same name has its own time. */
  readonly uid: string | undefined;
  readonly sinceMs: number;
  /** Since when the virtual address is being taken off the nodes. */
  addressSinceMs?: number;
  /** When it ends, for people: once told, it is the same in every telling. */
  end?: { readonly atMs: number; readonly date: Date };
}

/** What is left of the time for one Exposure. */
export interface LeaveTime {
  readonly waitedMs: number;
  /** At 0, what is not done stays undone. */
  readonly leftMs: number;
  /** The same, on the clock of people. */
  readonly givesUpAt: Date;
  /** Whether the nodes have had their time to take the virtual address off, which begins with the first call. */
  addressIsLate(): boolean;
}

/** The times of all Exposures that leave. */
export class LeaveTimes {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #now: () => Date;
  readonly #attempts = new Map<string, Attempts>();

  constructor(timeoutMs: number, clock: Clock, now = () => new Date()) {
    this.#now = now;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  /** For the Exposure of this key and uid; its time begins with the first call. */
  timeOf(key: string, uid: string | undefined): LeaveTime {
    const nowMs = this.#clock.nowMs();
    const known = this.#attempts.get(key);
    const attempts: Attempts = known?.uid === uid && known ? known : { uid, sinceMs: nowMs };
    this.#attempts.set(key, attempts);
    const { sinceMs, addressSinceMs = sinceMs - this.#addressMs } = attempts;
    // Nodes that were reached late have their time nevertheless.
    const endMs = Math.max(sinceMs + this.#timeoutMs, addressSinceMs + this.#addressMs);
    const leftMs = Math.max(0, endMs - nowMs);
    if (attempts.end?.atMs !== endMs) {
      attempts.end = { atMs: endMs, date: new Date(this.#now().getTime() + leftMs) };
    }
    return {
      waitedMs: nowMs - sinceMs,
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

  get #addressMs(): number {
    return this.#timeoutMs / 2;
  }
}
