/**
 * The limit on bytes buffered for slow readers and pending dials in the whole process.
 *
 * A stalled reader costs little, but one client can open many. Without a common limit they exhaust the memory of the
 * container, and every other client loses its connection.
 */
import { GLOBAL, sumOver } from './counters.ts';
import type { Limits } from './limits.ts';

/**
 * The limit on buffered bytes. Check it only where bytes begin to wait: reading the counters of other threads is slow.
 */
export class BufferLimit {
  readonly #maxBufferedBytes: number;
  readonly #allValues: readonly Float64Array[];

  constructor({ maxBufferedBytes }: Limits, allValues: readonly Float64Array[]) {
    this.#maxBufferedBytes = maxBufferedBytes;
    this.#allValues = allValues;
  }

  /** Whether the buffered bytes exceed the limit. */
  get isExceeded(): boolean {
    return sumOver(this.#allValues, GLOBAL.bufferedBytes) > this.#maxBufferedBytes;
  }

  /** Whether more than half of the limit is used. An engine that can avoid buffering should then do so. */
  get isNear(): boolean {
    return sumOver(this.#allValues, GLOBAL.bufferedBytes) > this.#maxBufferedBytes / 2;
  }
}
