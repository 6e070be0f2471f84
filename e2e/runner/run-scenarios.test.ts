import { describe, expect, test } from 'bun:test';
import { runScenarios, type Outcome, type RunOptions } from './run-scenarios.ts';
import { scenario } from './testing/scenario.ts';

async function run(options: Partial<RunOptions> & Pick<RunOptions, 'scenarios'>) {
  const outcomes = await runScenarios({
    prepare: async () => {},
    runTests: async () => 0,
    capacity: () => ({ maxConcurrent: 2, inotifyInstances: 120, memoryMiB: 20_000 }),
    nowMs: () => 0,
    hasTimeForOptional: () => true,
    signal: new AbortController().signal,
    pollMs: 1,
    ...options,
  });
  return Object.fromEntries(outcomes.map((outcome: Outcome) => [outcome.scenario.name, outcome]));
}

describe('scenarios', () => {
  test('all run, even after a failure', async () => {
    const ended = await run({
      scenarios: [scenario('a'), scenario('b'), scenario('c')],
      runTests: async ({ name }) => (name === 'a' ? 1 : 0),
    });

    expect(ended['a']?.result).toBe('failed');
    expect(ended['b']?.result).toBe('passed');
    expect(ended['c']?.result).toBe('passed');
  });

  test('fail if their tests cannot be started, and others continue', async () => {
    const ended = await run({
      scenarios: [scenario('a'), scenario('b')],
      runTests: async ({ name }) => {
        if (name === 'a') throw new Error('no space left on device');
        return 0;
      },
    });

    expect(ended['a']).toMatchObject({ result: 'failed', reason: 'no space left on device' });
    expect(ended['b']?.result).toBe('passed');
  });

  test('run in parallel, as many as the resources allow', async () => {
    let running = 0;
    let maxRunning = 0;
    const all = Array.from({ length: 5 }, (_, at) => scenario(`s${at}`));

    await run({
      scenarios: all,
      runTests: async () => {
        maxRunning = Math.max(maxRunning, ++running);
        await Bun.sleep(1);
        running--;
        return 0;
      },
    });

    expect(maxRunning).toBe(2);
  });

  test('start as soon as their own parts are built', async () => {
    const built = Promise.withResolvers<void>();
    const order: string[] = [];

    await run({
      scenarios: [scenario('needs-parts'), scenario('needs-none')],
      prepare: async ({ name }) => (name === 'needs-parts' ? built.promise : undefined),
      runTests: async ({ name }) => {
        order.push(name);
        built.resolve();
        return 0;
      },
    });

    expect(order).toEqual(['needs-none', 'needs-parts']);
  });

  test('fail if their parts cannot be built, with the reason', async () => {
    const ended = await run({
      scenarios: [scenario('a'), scenario('b')],
      prepare: async ({ name }) => {
        if (name === 'a') throw new Error('no network');
      },
    });

    expect(ended['a']).toMatchObject({ result: 'failed', reason: 'no network' });
    expect(ended['b']?.result).toBe('passed');
  });

  test('are skipped after the time limit only if they are optional', async () => {
    const ended = await run({
      scenarios: [scenario('core'), scenario('optional', { isOptional: true })],
      hasTimeForOptional: () => false,
    });

    expect(ended['core']?.result).toBe('passed');
    expect(ended['optional']).toMatchObject({ result: 'skipped', reason: 'no time left' });
  });

  test('are skipped if an interrupt ends the build of their parts', async () => {
    const interrupted = new AbortController();

    const ended = await run({
      scenarios: [scenario('a')],
      prepare: async () => {
        interrupted.abort();
        throw new Error('aborted');
      },
      signal: interrupted.signal,
    });

    expect(ended['a']).toMatchObject({ result: 'skipped', reason: 'interrupted' });
  });

  test('are skipped after an interrupt if they have not started', async () => {
    const interrupted = new AbortController();

    const ended = await run({
      scenarios: [scenario('a', { isExclusive: true }), scenario('b')],
      runTests: async () => {
        interrupted.abort();
        return 1;
      },
      signal: interrupted.signal,
    });

    expect(ended['b']).toMatchObject({ result: 'skipped', reason: 'interrupted' });
  });
});
