/**
 * A relay that keeps only so many bytes for all its connections together.
 *
 * One stalled reader costs what Bun hands over in one event, 512 KB at most, and any pod can have many: without a limit
 * for all of them they outgrow the memory of a small container, and cost every pod of the node its connection.
 */
import { Relay, type Done } from '../../engine/bun/relay.ts';
import type { AnySide } from '../../engine/bun/side.ts';
import { GLOBAL, type Counters } from '../../engine/counters.ts';
import { PodSide } from './sides.ts';

/** The most bytes that are kept, by default. */
export const DEFAULT_MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** Resets the connection that would go beyond the limit; the others do not notice. */
export class BoundedRelay extends Relay {
  readonly #counters: Counters;
  readonly #maxKeptBytes: number;
  readonly #end: (pod: PodSide, reason: number, how: 'close' | 'reset') => void;
  readonly #limitReached: number;

  constructor(
    counters: Counters,
    maxKeptBytes: number,
    end: (pod: PodSide, reason: number, how: 'close' | 'reset') => void,
  ) {
    const done: Done = (client, reason, how) => {
      if (client instanceof PodSide) end(client, reason, how);
    };
    super(counters, done);
    this.#counters = counters;
    this.#maxKeptBytes = maxKeptBytes;
    this.#end = end;
    this.#limitReached = counters.reason('kept_bytes_limit');
  }

  override pass(from: AnySide, to: AnySide, chunk: Uint8Array): void {
    super.pass(from, to, chunk);
    if (to.queue === null) return;
    compact(to);
    this.#check(to instanceof PodSide ? to : to.peer);
  }

  override drained(side: AnySide): void {
    super.drained(side);
    if (side.queue !== null) compact(side);
  }

  /** What the pod has sent so far waits for the edge. Call again when there is more of it. */
  hold(pod: PodSide): void {
    this.#counters.add(GLOBAL.keptBytes, pod.firstBytes - pod.waitingBytes);
    pod.waitingBytes = pod.firstBytes;
    this.#check(pod);
  }

  /** It waits no more. */
  release(pod: PodSide): void {
    this.#counters.add(GLOBAL.keptBytes, -pod.waitingBytes);
    pod.waitingBytes = 0;
  }

  #check(pod: AnySide | null): void {
    if (this.#counters.global('keptBytes') <= this.#maxKeptBytes) return;
    if (pod instanceof PodSide) this.#end(pod, this.#limitReached, 'reset');
  }
}

/** What is left of a chunk holds all of its memory: a small rest is copied, so that no more than twice what is counted is held. */
function compact(side: AnySide): void {
  if (side.queue === null || 2 * side.queue.byteLength >= side.queue.buffer.byteLength) return;
  side.queue = new Uint8Array(side.queue);
}
