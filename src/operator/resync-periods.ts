/**
 * How long after a reconcile each Exposure is fully reconciled again although no event asks for it. The period doubles while
 * nothing changes.
 */

/** The periods of all Exposures. */
export class ResyncPeriods {
  readonly #leastMs: number;
  readonly #mostMs: number;
  /** Of those that have been steady. */
  readonly #periods = new Map<string, number>();

  constructor(leastMs: number, mostMs: number) {
    this.#leastMs = leastMs;
    this.#mostMs = Math.max(leastMs, mostMs);
  }

  of(exposure: string): number {
    return this.#periods.get(exposure) ?? this.#leastMs;
  }

  /** A reconcile found nothing to do: the next period is twice as long. */
  lengthen(exposure: string): void {
    this.#periods.set(exposure, Math.min(2 * this.of(exposure), this.#mostMs));
  }

  /** Something has changed: the next period is the shortest. */
  reset(exposure: string): void {
    this.#periods.delete(exposure);
  }
}
