import { describe, expect, test } from 'bun:test';
import { ManualClock } from '../clock/manual-clock.ts';
import { keepHeapSmall, ownHeap } from './thrift.ts';

const MB = 1024 * 1024;

/** A heap that grows as a test says; garbage is collected to what is in use. */
class TestHeap {
  usedBytes: number;
  bytes: number;
  collections = 0;

  constructor(bytes: number) {
    this.bytes = bytes;
    this.usedBytes = bytes;
  }

  sizeBytes(): number {
    return this.bytes;
  }

  collect(): void {
    this.collections++;
    this.bytes = this.usedBytes;
  }
}

describe('garbage', () => {
  test('is collected when the heap has grown by a part of what is in use', () => {
    const clock = new ManualClock();
    const heap = new TestHeap(100 * MB);
    keepHeapSmall(clock, heap);

    heap.bytes = 120 * MB;
    clock.advance(1000);
    expect(heap.collections).toBe(0);

    heap.bytes = 125 * MB;
    clock.advance(1000);
    expect(heap.collections).toBe(1);
    expect(heap.bytes).toBe(100 * MB);
  });

  test('is not looked for again and again in a heap that is in use', () => {
    const clock = new ManualClock();
    const heap = new TestHeap(10 * MB);
    keepHeapSmall(clock, heap);
    heap.bytes = heap.usedBytes = 100 * MB;

    for (let second = 0; second < 10; second++) clock.advance(1000);

    expect(heap.collections).toBe(1);
  });

  test('is left to the engine after the end', () => {
    const clock = new ManualClock();
    const heap = new TestHeap(10 * MB);
    const stop = keepHeapSmall(clock, heap);

    stop();
    heap.bytes = 100 * MB;
    clock.advance(1000);

    expect(heap.collections).toBe(0);
  });
});

test('the heap of this process is as large as what is in use, once garbage is collected', () => {
  ownHeap.collect();
  const before = ownHeap.sizeBytes();

  const kept = Array.from({ length: 100_000 }, (_, index) => ({ index }));
  ownHeap.collect();

  expect(ownHeap.sizeBytes() - before).toBeGreaterThan(100_000 * 8);
  expect(kept.length).toBe(100_000);
});
