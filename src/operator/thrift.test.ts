import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { ManualClock } from '../clock/manual-clock.ts';
import { keepHeapSmall } from './thrift.ts';

const MB = 1024 * 1024;

/** A heap that grows as a test says; garbage is collected to what is in use. */
class TestHeap {
  usedBytes: number;
  bytes: number;
  collections = 0;
  concurrentCollections = 0;

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

  /** The test says when it is done. */
  collectSoon(): void {
    this.concurrentCollections++;
  }
}

describe('garbage', () => {
  test('is collected when the heap has grown by a part of what is in use', () => {
    const clock = new ManualClock();
    const heap = new TestHeap(20 * MB);
    keepHeapSmall(clock, heap);

    heap.bytes = 27 * MB;
    clock.advance(1000);
    expect(heap.collections).toBe(0);

    heap.bytes = 29 * MB;
    clock.advance(1000);
    expect(heap.collections).toBe(1);
    expect(heap.bytes).toBe(20 * MB);
  });

  test('of a large heap is collected while the process goes on', () => {
    const clock = new ManualClock();
    const heap = new TestHeap(100 * MB);
    keepHeapSmall(clock, heap);

    heap.bytes = 125 * MB;
    clock.advance(5000);
    expect(heap.collections).toBe(0);
    expect(heap.concurrentCollections).toBe(1);

    // The collection is over, and the heap grows again.
    heap.bytes = 100 * MB;
    clock.advance(1000);
    heap.bytes = 125 * MB;
    clock.advance(1000);
    expect(heap.concurrentCollections).toBe(2);
  });

  test('is not looked for again and again in a heap that is in use', () => {
    const clock = new ManualClock();
    const heap = new TestHeap(10 * MB);
    keepHeapSmall(clock, heap);
    heap.bytes = heap.usedBytes = 30 * MB;

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

test('the heap of a process is as large as what is in use, once garbage is collected', () => {
  // In a process of its own: what other tests have left may be collected here at any moment.
  const program = `
    import { ownHeap } from ${JSON.stringify(join(import.meta.dir, 'thrift.ts'))};
    ownHeap.collect();
    const before = ownHeap.sizeBytes();
    globalThis.kept = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    ownHeap.collect();
    console.log(ownHeap.sizeBytes() - before);`;

  const { stdout } = Bun.spawnSync([process.execPath, '-e', program]);

  expect(Number(stdout.toString())).toBeGreaterThan(100_000 * 8);
});
