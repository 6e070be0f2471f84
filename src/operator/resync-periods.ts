/**
 * The period after which each Exposure is fully reconciled again without an event. It doubles while
 * nothing changes.
 */
import type { Clock } from '../clock/clock.ts';

/** Periods are spread: this part of one is the shortest. */
const SHORTEST = 0.9;

/** The periods of all Exposures. */
export class ResyncPeriods {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #leastMs: number;
  readonly #mostMs: number;
  /** Of those that have been steady. */
  readonly #periods = new Map<string, { readonly periodMs: number; readonly sinceMs: number }>();

  constructor(leastMs: number, mostMs: number, clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
    this.#leastMs = leastMs;
    this.#mostMs = Math.max(leastMs, mostMs);
  }

  of(exposure: string): number {
    return this.#periods.get(exposure)?.periodMs ?? this.#leastMs;
  }

  /** A reconcile found nothing to do. If it came at the end of a period, the next one is twice as long. */
  lengthen(exposure: string): void {
    const nowMs = this.#clock.nowMs();
    const known = this.#periods.get(exposure);
    if (known === undefined) {
      this.#periods.set(exposure, { periodMs: this.#leastMs, sinceMs: nowMs });
      return;
    }
    if (nowMs - known.sinceMs < SHORTEST * known.periodMs) return;
    const periodMs = Math.min(2 * known.periodMs, this.#mostMs);
    this.#periods.set(exposure, { periodMs, sinceMs: nowMs });
  }

  /** Something has changed: the next period is the shortest. */
  reset(exposure: string): void {
    this.#periods.delete(exposure);
  }
}
