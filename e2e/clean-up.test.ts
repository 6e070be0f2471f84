/** A world leaves nothing behind, however it ends, and worlds are isolated from each other. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { identityOf, isRunning } from '../world/machine/identity.ts';
import { Ledger, worldIds } from '../world/machine/ledger.ts';
import { removeDeadWorlds } from '../world/machine/sweep.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';
import { footprint, type Footprint } from './footprint.ts';

const SMALL = { tenants: { a: {} } } as const;
/** For programs of a starting world. The last ones start when its API servers are ready. */
const STARTING = { everyMs: 5, deadlineMs: 120_000 };

let before: Footprint;
let others: ReadonlySet<string>;
const runners: Bun.Subprocess[] = [];

beforeAll(async () => {
  await removeDeadWorlds();
  others = new Set(worldIds());
  before = await footprint();
});

afterEach(async () => {
  // A test that failed halfway may have left a process.
  for (const runner of runners.splice(0)) {
    runner.kill('SIGKILL');
    await runner.exited;
  }
  await removeDeadWorlds();
});

describe('restores the machine', () => {
  test('after a world was stopped', async () => {
    const world = await World.start(SMALL, { progress: terminalProgress() });
    await world.tenant('a').runPod();
    const during = await footprint();

    await world.stop();

    // Shows that the comparison detects a running world.
    expect(during.processes.length).toBeGreaterThan(before.processes.length + 10);
    expect(during.networks).toBeGreaterThan(before.networks);
    expect(during.cgroups.length).toBeGreaterThan(before.cgroups.length);
    expect(during.sysctls).toEqual(before.sysctls);
    expect(during.mounts).toEqual(before.mounts);
    await expectAsBefore();
  });

  test('after a world failed to start', async () => {
    const failing = World.start({ tenants: { a: { apiServerFlags: ['--no-such-flag'] } } });

    await expect(failing).rejects.toThrow('unknown flag: --no-such-flag');
    await expectAsBefore();
  });

  test('after the start of a world was canceled', async () => {
    const giveUp = new AbortController();
    const starting = World.start(SMALL, { signal: giveUp.signal });
    const id = await newWorld();
    await waitFor('its API server starts', () => names(id).includes('a/kube-apiserver'), STARTING);

    giveUp.abort(new Error('given up'));

    await expect(starting).rejects.toThrow('given up');
    await expectAsBefore();
  });

  test.each([
    ['while it makes its hosts', 'management/init'],
    ['while its control planes start', 'a/kube-apiserver'],
    ['while its nodes start', 'a-1/kubelet'],
  ])('after its owner was killed %s and `world down` removed the world', async (_, milestone) => {
    const runner = startRunner();
    const id = await newWorld();
    await waitFor(`${milestone} was started`, () => names(id).includes(milestone), STARTING);

    runner.kill('SIGKILL');
    await runner.exited;
    const removed = await removeDeadWorlds();

    expect(removed).toContainEqual({ id });
    await expectAsBefore();
  });

  test('after its owner was killed and the next world started', async () => {
    const runner = startRunner();
    const id = (await firstLine(runner.stdout)).trim();
    runner.kill('SIGKILL');
    await runner.exited;

    const next = await World.start();

    expect(worldIds()).toContain(next.id);
    expect(worldIds()).not.toContain(id);
    await next.stop();
    await expectAsBefore();
  });
});

test('does not kill a process that reuses a PID of a dead world', async () => {
  const runner = startRunner();
  const id = await newWorld();
  runner.kill('SIGKILL');
  await runner.exited;
  const unrelated = Bun.spawn(['sleep', '1000']);
  const identity = identityOf(unrelated.pid)!;
  // As if the kernel had reused the PID of a program of that world.
  Ledger.find(id)!.append({
    kind: 'process',
    name: 'a/etcd',
    process: { pid: unrelated.pid, startTicks: '1' },
  });

  await removeDeadWorlds();

  expect(isRunning(identity)).toBe(true);
  unrelated.kill();
  await unrelated.exited;
});

describe('two worlds at once', () => {
  let one: World;
  let two: World;

  beforeAll(async () => {
    [one, two] = await Promise.all([World.start(SMALL), World.start(SMALL)]);
  });

  afterAll(async () => {
    await Promise.all([one?.stop(), two?.stop()]);
  });

  test('have the same addresses and are isolated', async () => {
    await one.tenant('a').kubectl('create', 'namespace', 'only-in-one');

    expect(two.tenant('a').plan.address).toBe(one.tenant('a').plan.address);
    expect(await one.tenant('a').get('namespace', 'only-in-one')).toBeDefined();
    expect(await two.tenant('a').get('namespace', 'only-in-one')).toBeUndefined();
  });

  test('stop independently', async () => {
    await one.stop();

    expect(await two.tenant('a').kubectl('get', '--raw', '/readyz')).toBe('ok');
    const pod = await two.tenant('a').runPod();
    expect(await pod.exec('hostname')).toBe(`${pod.name}\n`);
  });
});

/** Starts a world in another process, which the test kills. */
function startRunner(): Bun.Subprocess<'ignore', 'pipe', 'inherit'> {
  const runner = Bun.spawn([process.execPath, join(import.meta.dir, 'start-world.ts')], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  runners.push(runner);
  return runner;
}

/** Returns the ID of a world that did not exist before these tests. Other worlds may exist. */
async function newWorld(): Promise<string> {
  return waitFor('a new world exists', () => worldIds().find((id) => !others.has(id)), STARTING);
}

/** Returns the names of the processes in the ledger of a world that is starting. */
function names(id: string): string[] {
  return (
    Ledger.find(id)
      ?.entries()
      .flatMap((entry) => (entry.kind === 'process' ? [entry.name] : [])) ?? []
  );
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const { value } = await stream.getReader().read();
  return new TextDecoder().decode(value);
}

/** Waits a little, because network namespaces end a moment after their last process. */
async function expectAsBefore(): Promise<void> {
  let after = await footprint();
  const isAsBefore = async () => {
    after = await footprint();
    return Bun.deepEquals(after, before);
  };
  // On a timeout, the comparison below shows the difference.
  await waitFor('the machine is restored', isAsBefore).catch(() => {});
  expect(after).toEqual(before);
}
