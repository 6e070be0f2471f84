/**
 * How long an Exposure waits between two polls for something that no watch reports.
 */
import type { Clock } from '../clock/clock.ts';

/** Something that a reconcile waits for, and that no watch reports. */
export interface Poll {
  /** A constant word. The delay returns to `firstMs` when it changes. */
  readonly reason: string;
  readonly firstMs: number;
}

/** The longest delay between two polls. */
const MAX_DELAY_MS = 60_000;

/**
 * The delay until the next poll, after a wait of `waitedMs`. It is as long as the wait so far, and so doubles from poll to
 * poll. A count of polls would grow with every reconcile that an unrelated event causes.
 */
export function pollDelayMs(waitedMs: number, firstMs: number): number {
  return Math.max(firstMs, Math.min(waitedMs, MAX_DELAY_MS));
}

/** The polls of one Exposure. */
export class PollBackoff {
  readonly #clock: Pick<Clock, 'nowMs'>;
  #waiting: { readonly reason: string; readonly sinceMs: number } | undefined;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  /** The delay until the next poll for any of these; undefined if there are none. */
  delayMs(polls: readonly Poll[]): number | undefined {
    if (polls.length === 0) {
      this.reset();
      return undefined;
    }
    const nowMs = this.#clock.nowMs();
    const reason = polls.map((poll) => poll.reason).join(' ');
    const waiting = this.#waiting?.reason === reason ? this.#waiting : { reason, sinceMs: nowMs };
    this.#waiting = waiting;
    const firstMs = Math.min(...polls.map((poll) => poll.firstMs));
    return pollDelayMs(nowMs - waiting.sinceMs, firstMs);
  }

  /** An event concerns the Exposure: the next delay is the first one. */
  reset(): void {
    this.#waiting = undefined;
  }
}
