/**
 * How much waits for slow readers and for dials in the whole process, against what may.
 *
 * A stalled reader costs little, but anybody can have many: without a limit for all of them they outgrow the memory of a
 * container, and cost everybody else the connection.
 */
import { GLOBAL, sumOver } from './counters.ts';
import type { Limits } from './limits.ts';

/** Asked only where bytes begin to wait: the numbers of other threads are slow to read. */
export class KeptLimit {
  readonly #maxKeptBytes: number;
  readonly #allValues: readonly Float64Array[];

  constructor({ maxKeptBytes }: Limits, allValues: readonly Float64Array[]) {
    this.#maxKeptBytes = maxKeptBytes;
    this.#allValues = allValues;
  }

  /** More waits than may. */
  get isExceeded(): boolean {
    return sumOver(this.#allValues, GLOBAL.keptBytes) > this.#maxKeptBytes;
  }

  /** So much waits that whoever can do without should not add to it. */
  get isNear(): boolean {
    return sumOver(this.#allValues, GLOBAL.keptBytes) > this.#maxKeptBytes / 2;
  }
}
