/**
 * An operator has little to compute and much to wait for, and it shares its node with others: it pays for less memory
 * with a little more processor time.
 */
import { heapSize } from 'bun:jsc';
import type { Clock } from '../clock/clock.ts';

/** The engine's heap, as far as thrift goes. */
export interface Heap {
  /** As of the last time that the engine collected garbage, of the young or of all. */
  sizeBytes(): number;
  /** Collects garbage, now: the process does nothing else meanwhile. */
  collect(): void;
  /** Begins to collect garbage while the process goes on. */
  collectSoon(): void;
}

/** The heap of this process. */
export const ownHeap: Heap = {
  sizeBytes: heapSize,
  collect: () => Bun.gc(true),
  collectSoon: () => Bun.gc(false),
};

const LOOK_EVERY_MS = 1000;
/** By how much the heap may grow. The engine's own measure is twice as much, by which live objects come to lie scattered. */
const GROWTH = { factor: 1.2, bytes: 4 * 1024 * 1024 };
/** A larger heap is not collected at once: of 240 MB that takes 430 ms, and 70 ms while the process goes on. */
const MAX_AT_ONCE_BYTES = 32 * 1024 * 1024;

/** Collects garbage when there is some; until the returned function is called. */
export function keepHeapSmall(clock: Clock, heap: Heap = ownHeap): () => void {
  let leastBytes = heap.sizeBytes();
  return clock.every(LOOK_EVERY_MS, () => {
    const bytes = heap.sizeBytes();
    if (bytes < leastBytes) leastBytes = bytes;
    if (bytes < leastBytes * GROWTH.factor + GROWTH.bytes) return;
    if (bytes > MAX_AT_ONCE_BYTES) heap.collectSoon();
    else heap.collect();
    leastBytes = heap.sizeBytes();
  });
}

/**
 * The engine compiles a function after this many times more calls than usual: with few tenants next to none, with thousands
 * those that matter.
 */
const COMPILE_LATER = 30;

/**
 * Has the engine compile little. After a start with 300 tenants, no compilation at all saves 20 to 40 MB.
 */
export function interpretMost(): void {
  Bun.unsafe.setJITPolicy(COMPILE_LATER);
}
