/**
 * The period after which each Exposure is fully reconciled again without an event. It doubles while nothing changes.
 */
import type { Clock } from '../clock/clock.ts';

/** The shortest jittered period, as a fraction of the period. */
const MIN_JITTER = 0.9;

/** The periods of all Exposures. */
export class ResyncPeriods {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #minMs: number;
  readonly #maxMs: number;
  /** The periods of the Exposures that have not changed for a while. */
  readonly #periods = new Map<string, { readonly periodMs: number; readonly sinceMs: number }>();

  constructor(minMs: number, maxMs: number, clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
    this.#minMs = minMs;
    this.#maxMs = Math.max(minMs, maxMs);
  }

  /** Returns the current period of an Exposure, without jitter. */
  of(exposure: string): number {
    return this.#periods.get(exposure)?.periodMs ?? this.#minMs;
  }

  /** Records a reconcile without changes. If it was at the end of a period, the next period is twice as long. */
  lengthen(exposure: string): void {
    const nowMs = this.#clock.nowMs();
    const current = this.#periods.get(exposure);
    if (current === undefined) {
      this.#periods.set(exposure, { periodMs: this.#minMs, sinceMs: nowMs });
      return;
    }
    if (nowMs - current.sinceMs < MIN_JITTER * current.periodMs) return;
    const periodMs = Math.min(2 * current.periodMs, this.#maxMs);
    this.#periods.set(exposure, { periodMs, sinceMs: nowMs });
  }

  /** Records a change: the next period is the shortest. */
  reset(exposure: string): void {
    this.#periods.delete(exposure);
  }
}
