import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ManualClock } from '../clock/manual-clock.ts';
import { KubeError } from './kube-error.ts';
import type { Histogram } from '../telemetry/histogram.ts';
import { WorkQueue, type FailedRun, type RunOptions } from './work-queue.ts';

/** A queue whose runs are ended by the test. */
class Bench implements Disposable {
  readonly clock = new ManualClock();
  readonly failures: FailedRun[] = [];
  readonly queue = new WorkQueue({
    clock: this.clock,
    random: () => 0,
    backoff: { firstMs: 100, maxMs: 1_000 },
    onFailure: (run) => this.failures.push(run),
  });
  /** Keys of all runs in the order of their start. */
  readonly started: string[] = [];
  readonly #open: { key: string; end: (error?: Error) => void }[] = [];
  readonly #stop = new AbortController();
  readonly done: Promise<void>;

  constructor(concurrency = 1) {
    const { signal } = this.#stop;
    this.done = this.queue.run(
      async (key) => {
        this.started.push(key);
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        this.#open.push({ key, end: (error) => (error ? reject(error) : resolve()) });
        await promise;
      },
      { concurrency, signal },
    );
  }

  get running(): readonly string[] {
    return this.#open.map(({ key }) => key);
  }

  /** Ends the oldest run, and waits for the effects. */
  async end(error?: Error): Promise<void> {
    this.#open.shift()?.end(error);
    await settled();
  }

  stop(): void {
    this.#stop.abort();
  }

  [Symbol.dispose](): void {
    this.stop();
  }
}

/** Waits until all pending promise reactions have run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

test('runs prioritized keys first, and the other keys every other turn', async () => {
  using bench = new Bench();
  bench.queue.add('first');
  for (const key of ['a', 'b', 'c']) bench.queue.add(key);

  for (const key of ['x', 'y', 'c']) bench.queue.addPrioritized(key);

  for (let turn = 0; turn < 6; turn++) await bench.end();
  expect(bench.started[0]).toBe('first');
  expect(bench.started.filter((key) => 'ab'.includes(key))).toEqual(['a', 'b']);
  expect(bench.started.filter((key) => 'xyc'.includes(key))).toEqual(['x', 'y', 'c']);
  expect(bench.started.indexOf('x')).toBeLessThan(bench.started.indexOf('b'));
  expect(bench.started.indexOf('b')).toBeLessThan(bench.started.indexOf('c'));
});

test('runs a key again that is prioritized while it runs', async () => {
  using bench = new Bench();
  bench.queue.add('a');
  bench.queue.add('b');

  bench.queue.addPrioritized('a');

  for (let turn = 0; turn < 3; turn++) await bench.end();
  expect(bench.started.toSorted()).toEqual(['a', 'a', 'b']);
});

test('runs a waiting key once for many adds, in order of arrival', async () => {
  using bench = new Bench();

  for (const key of ['a', 'b', 'c', 'b', 'c', 'c']) bench.queue.add(key);
  for (let run = 0; run < 5; run++) await bench.end();

  expect(bench.started).toEqual(['a', 'b', 'c']);
  expect(bench.queue.numbers()).toMatchObject({ adds: 6, runs: 3, depth: 0, running: 0 });
});

test('runs a key once more if it is added several times while it runs', async () => {
  using bench = new Bench(4);
  bench.queue.add('a');

  bench.queue.add('a');
  bench.queue.add('a');
  expect(bench.running).toEqual(['a']);
  await bench.end();
  expect(bench.running).toEqual(['a']);
  await bench.end();

  expect(bench.started).toEqual(['a', 'a']);
});

test('runs as many keys concurrently as allowed', async () => {
  using bench = new Bench(2);

  for (const key of ['a', 'b', 'c']) bench.queue.add(key);
  expect(bench.running).toEqual(['a', 'b']);
  expect(bench.queue.numbers()).toMatchObject({ running: 2, depth: 1 });
  await bench.end();

  expect(bench.running).toEqual(['b', 'c']);
});

describe('a key that fails', () => {
  test('is retried with a growing delay up to a limit, and starts over after a success', async () => {
    using bench = new Bench();
    bench.queue.add('a');

    for (const delayMs of [100, 200, 400, 800, 1_000, 1_000]) {
      await bench.end(new Error('no'));
      expect(bench.failures.at(-1)?.retryInMs).toBe(delayMs);
      bench.clock.advance(delayMs - 1);
      expect(bench.running).toEqual([]);
      bench.clock.advance(1);
      expect(bench.running).toEqual(['a']);
    }
    await bench.end();
    bench.queue.add('a');
    await bench.end(new Error('no'));

    expect(bench.failures.map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 6, 1]);
    expect(bench.failures.at(-1)).toMatchObject({
      key: 'a',
      error: new Error('no'),
      retryInMs: 100,
    });
    expect(bench.queue.numbers().retries).toBe(7);
  });

  test('runs at once when it is added', async () => {
    using bench = new Bench();
    bench.queue.add('a');
    await bench.end(new Error('no'));

    bench.queue.add('a');

    expect(bench.running).toEqual(['a']);
  });

  test('waits for the Retry-After of the server', async () => {
    using bench = new Bench();
    bench.queue.add('a');

    await bench.end(new KubeError('Throttled', 'slow down', { retryAfterMs: 7_000 }));

    expect(bench.failures[0]?.retryInMs).toBe(7_000);
  });

  test('does not delay other keys', async () => {
    using bench = new Bench();
    bench.queue.add('a');
    bench.queue.add('b');

    await bench.end(new Error('no'));

    expect(bench.running).toEqual(['b']);
  });
});

describe('a delayed key', () => {
  test('runs at the earliest of its times', async () => {
    using bench = new Bench();

    bench.queue.addAfter('a', 500);
    bench.queue.addAfter('a', 200);
    bench.queue.addAfter('a', 900);
    expect(bench.queue.numbers()).toMatchObject({ delayed: 1, depth: 0 });
    bench.clock.advance(199);
    expect(bench.started).toEqual([]);
    bench.clock.advance(1);
    await bench.end();
    bench.clock.advance(10_000);

    expect(bench.started).toEqual(['a']);
  });

  test('loses its delay when it runs earlier', async () => {
    using bench = new Bench();
    bench.queue.addAfter('a', 500);

    bench.queue.add('a');
    expect(bench.queue.numbers()).toMatchObject({ delayed: 0, running: 1 });
    bench.queue.addAfter('a', 900);
    await bench.end();
    bench.clock.advance(500);
    expect(bench.started).toEqual(['a']);
    bench.clock.advance(400);

    expect(bench.started).toEqual(['a', 'a']);
  });

  test('runs again if its delay ends while it runs', async () => {
    using bench = new Bench();
    bench.queue.add('a');
    bench.queue.addAfter('a', 500);

    bench.clock.advance(500);
    expect(bench.running).toEqual(['a']);
    await bench.end();

    expect(bench.started).toEqual(['a', 'a']);
  });

  test('runs at once without a delay, and cuts a delay that exceeds the maximum of a timer', () => {
    using bench = new Bench(2);

    bench.queue.addAfter('a', 0);
    bench.queue.addAfter('b', Number.MAX_SAFE_INTEGER);

    expect(bench.running).toEqual(['a']);
    bench.clock.advance(2 ** 31);
    expect(bench.running).toEqual(['a', 'b']);
  });

  test('is forgotten with its object', async () => {
    using bench = new Bench();
    bench.queue.addAfter('a', 500);

    bench.queue.forget('a');
    bench.clock.advance(1_000);

    expect(bench.started).toEqual([]);
  });
});

test('stops when aborted, after the current runs, and starts no more', async () => {
  const bench = new Bench();
  let isDone = false;
  void bench.done.then(() => (isDone = true));
  bench.queue.add('a');
  bench.queue.add('b');
  bench.queue.addAfter('c', 100);

  bench.stop();
  await settled();
  expect(isDone).toBe(false);
  await bench.end();
  await bench.done;
  bench.clock.advance(1_000);

  expect(bench.started).toEqual(['a']);
});

test('reports the age of the longest run, and the durations of all runs', async () => {
  using bench = new Bench(2);
  bench.queue.add('a');
  bench.clock.advance(2_000);
  bench.queue.add('b');
  bench.clock.advance(1_000);
  expect(bench.queue.numbers().longestRunningSeconds).toBe(3);

  await bench.end();
  expect(bench.queue.numbers()).toMatchObject({ longestRunningSeconds: 1, runs: 1 });
  expect(sumOf(bench.queue.durations)).toBe(3);
  await bench.end();

  expect(bench.queue.numbers()).toMatchObject({ longestRunningSeconds: 0, runs: 2 });
  expect(sumOf(bench.queue.durations)).toBe(4);
});

test('measures the wait of keys from when they became ready', async () => {
  using bench = new Bench();
  bench.queue.add('a');
  bench.clock.advance(1_000);
  bench.queue.add('b');
  // The time of the first add counts.
  bench.clock.advance(1_000);
  bench.queue.add('b');
  bench.queue.addAfter('c', 500);
  bench.queue.add('a');
  bench.clock.advance(500);
  bench.clock.advance(500);

  // a did not wait, b waited for 2 s, the second a for 1 s, and c for 0.5 s after its delay.
  await bench.end();
  expect(sumOf(bench.queue.queueDurations)).toBe(2);
  await bench.end();
  await bench.end();

  expect(sumOf(bench.queue.queueDurations)).toBe(3.5);
  expect([...bench.queue.queueDurations.samples()].at(-1)).toMatchObject({
    suffix: '_count',
    value: 4,
  });
});

/** Returns the sum of all observations. */
function sumOf(histogram: Histogram): number | undefined {
  return [...histogram.samples()].find(({ suffix }) => suffix === '_sum')?.value;
}

test('can only be run once', async () => {
  using bench = new Bench();

  const second = bench.queue.run(async () => {}, { signal: AbortSignal.abort() });

  await expect(second).rejects.toThrow('can only be run once');
});

type Step =
  | { readonly kind: 'add'; readonly key: string }
  | { readonly kind: 'addAfter'; readonly key: string; readonly ms: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'end'; readonly fails: boolean };

const keys = fc.constantFrom('a', 'b', 'c');
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('add' as const), key: keys }),
    fc.record({
      kind: fc.constant('addAfter' as const),
      key: keys,
      ms: fc.integer({ min: 0, max: 300 }),
    }),
    fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 200 }) }),
    fc.record({ kind: fc.constant('end' as const), fails: fc.boolean() }),
  ),
  { maxLength: 60 },
);

test('never runs a key concurrently, never exceeds the concurrency, and loses no add', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 3 }), async (script, concurrency) => {
      const bench = new Bench(concurrency);
      /** By key: how many runs had started when it was last added. */
      const added = new Map<string, number>();
      for (const step of script) {
        if (step.kind === 'add') {
          added.set(step.key, startsOf(bench, step.key));
          bench.queue.add(step.key);
        } else if (step.kind === 'addAfter') {
          added.set(step.key, startsOf(bench, step.key));
          bench.queue.addAfter(step.key, step.ms);
        } else if (step.kind === 'advance') {
          bench.clock.advance(step.ms);
        } else {
          await bench.end(step.fails ? new Error('no') : undefined);
        }
        expect(new Set(bench.running).size).toBe(bench.running.length);
        expect(bench.running.length).toBeLessThanOrEqual(concurrency);
      }

      for (let turn = 0; turn < 200 && !isIdle(bench); turn++) {
        bench.clock.advance(100);
        await bench.end();
      }

      expect(isIdle(bench)).toBe(true);
      for (const [key, before] of added) expect(startsOf(bench, key)).toBeGreaterThan(before);
      bench.stop();
      await bench.done;
    }),
    { numRuns: 300 },
  );
});

function startsOf(bench: Bench, key: string): number {
  return bench.started.filter((started) => started === key).length;
}

function isIdle(bench: Bench): boolean {
  const { depth, delayed, running } = bench.queue.numbers();
  return depth + delayed + running === 0;
}

describe('a key that takes long', () => {
  /** Starts a queue with a concurrency of one, whose runs end with the test. */
  function started(options: Pick<RunOptions, 'slowLane' | 'overdueRuns'>) {
    const clock = new ManualClock();
    const queue = new WorkQueue({ clock, onFailure: () => {} });
    const runs = new Map<string, () => void>();
    const stop = new AbortController();
    const done = queue.run(
      async (key) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        runs.set(key, resolve);
        await promise;
        runs.delete(key);
      },
      { concurrency: 1, signal: stop.signal, ...options },
    );
    const end = async () => {
      stop.abort();
      for (const finish of runs.values()) finish();
      await done;
    };
    return { clock, queue, runs, [Symbol.asyncDispose]: end };
  }

  test('uses a separate lane if it is known to be slow', async () => {
    const slowLane = { concurrency: 2, isSlow: (key: string) => key.startsWith('slow') };
    await using bench = started({ slowLane });

    for (const key of ['slow-1', 'slow-2', 'slow-3', 'a', 'b']) bench.queue.add(key);
    expect([...bench.runs.keys()]).toEqual(['slow-1', 'slow-2', 'a']);

    bench.runs.get('a')?.();
    await settled();
    expect([...bench.runs.keys()]).toEqual(['slow-1', 'slow-2', 'b']);

    bench.runs.get('slow-1')?.();
    await settled();
    expect([...bench.runs.keys()]).toEqual(['slow-2', 'b', 'slow-3']);
  });

  test('is found in the slow lane without a search of all other keys', async () => {
    let questions = 0;
    const isSlow = (key: string) => {
      questions++;
      return key.startsWith('slow');
    };
    await using bench = started({ slowLane: { concurrency: 1, isSlow } });
    for (let index = 0; index < 1000; index++) bench.queue.add(`a-${index}`);
    bench.queue.add('slow');

    expect([...bench.runs.keys()]).toEqual(['a-0', 'slow']);
    // Once when a key is added, and once when it runs.
    expect(questions).toBeLessThanOrEqual(1001 + 2);
  });

  test('waits for the slow lane if it becomes slow while it waits', async () => {
    const slow = new Set<string>();
    const slowLane = { concurrency: 1, isSlow: (key: string) => slow.has(key) };
    await using bench = started({ slowLane });
    for (const key of ['a', 'b', 'c', 'd']) bench.queue.add(key);
    slow.add('b').add('c');

    bench.runs.get('a')?.();
    await settled();
    expect([...bench.runs.keys()]).toEqual(['b', 'd']);

    bench.runs.get('b')?.();
    await settled();
    expect([...bench.runs.keys()]).toEqual(['d', 'c']);
  });

  test('frees its slot for the next key when overdue, up to the extra slots', async () => {
    await using bench = started({ overdueRuns: { limitMs: 100, extraSlots: 2 } });
    for (const key of ['a', 'b', 'c', 'd', 'e']) bench.queue.add(key);
    expect([...bench.runs.keys()]).toEqual(['a']);

    for (let turn = 0; turn < 4; turn++) bench.clock.advance(100);
    expect([...bench.runs.keys()]).toEqual(['a', 'b', 'c']);

    bench.runs.get('a')?.();
    await settled();
    expect([...bench.runs.keys()]).toEqual(['b', 'c', 'd']);
  });
});

test('limits the Retry-After of a server to five minutes', async () => {
  using bench = new Bench();
  bench.queue.add('a');

  await bench.end(new KubeError('Throttled', 'come back', { retryAfterMs: 900_000_000 }));

  expect(bench.failures).toMatchObject([{ retryInMs: 300_000 }]);
});
