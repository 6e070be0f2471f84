/**
 * The period after which an Exposure is fully reconciled again without an event. It doubles while nothing changes.
 */
import type { Clock } from '../../clock/clock.ts';

/** The limits of a {@link ResyncPeriod}. */
export interface ResyncLimits {
  /** The period after a change. */
  readonly minMs: number;
  readonly maxMs: number;
}

/** The shortest jittered period, as a fraction of the period. */
const MIN_JITTER = 0.9;

/** The period of one Exposure. */
export class ResyncPeriod {
  readonly #limits: ResyncLimits;
  readonly #clock: Pick<Clock, 'nowMs'>;
  #periodMs: number;
  /** The time of the last reconcile at the end of a period. Undefined after a change. */
  #sinceMs: number | undefined;

  constructor(limits: ResyncLimits, clock: Pick<Clock, 'nowMs'>) {
    this.#limits = limits;
    this.#clock = clock;
    this.#periodMs = limits.minMs;
  }

  /** The current period, without jitter. */
  get ms(): number {
    return this.#periodMs;
  }

  /** Records a reconcile without changes. If it was at the end of a period, the next period is twice as long. */
  lengthen(): void {
    const nowMs = this.#clock.nowMs();
    if (this.#sinceMs !== undefined) {
      if (nowMs - this.#sinceMs < MIN_JITTER * this.#periodMs) return;
      this.#periodMs = Math.min(2 * this.#periodMs, this.#limits.maxMs);
    }
    this.#sinceMs = nowMs;
  }

  /** Records a change: the next period is the shortest. */
  reset(): void {
    this.#periodMs = this.#limits.minMs;
    this.#sinceMs = undefined;
  }
}
