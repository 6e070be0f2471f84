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
