/** A world restores the machine, even if it is killed. Worlds are isolated from each other. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { identityOf, isRunning } from '../world/machine/identity.ts';
import { Ledger, worldIds } from '../world/machine/ledger.ts';
import { removeDeadWorlds } from '../world/machine/sweep.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';
import { footprint, type Footprint } from './footprint.ts';

const ONE_TENANT = { tenants: { a: {} } } as const;
/** For programs of a starting world. The last programs start when its API servers are ready. */
const STARTING = { everyMs: 5, deadlineMs: 120_000 };

let before: Footprint;
let otherWorlds: ReadonlySet<string>;
const runners: Bun.Subprocess[] = [];

beforeAll(async () => {
  await removeDeadWorlds();
  otherWorlds = new Set(worldIds());
  before = await footprint();
});

afterEach(async () => {
  // A failed test may not have stopped its process.
  for (const runner of runners.splice(0)) {
    runner.kill('SIGKILL');
    await runner.exited;
  }
  await removeDeadWorlds();
});

describe('restores the machine', () => {
  test('after a world was stopped', async () => {
    const world = await World.start(ONE_TENANT, { progress: terminalProgress() });
    await world.tenant('a').runPod();
    const during = await footprint();

    await world.stop();

    // Shows that the comparison detects a running world.
    expect(during.processes.length).toBeGreaterThan(before.processes.length + 10);
    expect(during.networks).toBeGreaterThan(before.networks);
    expect(during.cgroups.length).toBeGreaterThan(before.cgroups.length);
    expect(during.sysctls).toEqual(before.sysctls);
    expect(during.mounts).toEqual(before.mounts);
    await expectRestored();
  });

  test('after a world failed to start', async () => {
    const failing = World.start({ tenants: { a: { apiServerFlags: ['--no-such-flag'] } } });

    await expect(failing).rejects.toThrow('unknown flag: --no-such-flag');
    await expectRestored();
  });

  test('after the start of a world was canceled', async () => {
    const cancellation = new AbortController();
    const starting = World.start(ONE_TENANT, { signal: cancellation.signal });
    const id = await newWorld();
    await waitFor(
      'its API server starts',
      () => processNames(id).includes('a/kube-apiserver'),
      STARTING,
    );

    cancellation.abort(new Error('canceled by the test'));

    await expect(starting).rejects.toThrow('canceled by the test');
    await expectRestored();
  });

  test.each([
    ['while it creates its hosts', 'management/init'],
    ['while its control planes start', 'a/kube-apiserver'],
    ['while its nodes start', 'a-1/kubelet'],
  ])('after its owner was killed %s and `world down` removed the world', async (_, milestone) => {
    const runner = startRunner();
    const id = await newWorld();
    await waitFor(`${milestone} was started`, () => processNames(id).includes(milestone), STARTING);

    runner.kill('SIGKILL');
    await runner.exited;
    const removed = await removeDeadWorlds();

    expect(removed).toContainEqual({ id });
    await expectRestored();
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
    await expectRestored();
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
  let first: World;
  let second: World;

  beforeAll(async () => {
    [first, second] = await Promise.all([World.start(ONE_TENANT), World.start(ONE_TENANT)]);
  });

  afterAll(async () => {
    await Promise.all([first?.stop(), second?.stop()]);
  });

  test('have the same addresses and are isolated', async () => {
    await first.tenant('a').kubectl('create', 'namespace', 'only-in-one');

    expect(second.tenant('a').plan.address).toBe(first.tenant('a').plan.address);
    expect(await first.tenant('a').get('namespace', 'only-in-one')).toBeDefined();
    expect(await second.tenant('a').get('namespace', 'only-in-one')).toBeUndefined();
  });

  test('stop independently', async () => {
    await first.stop();

    expect(await second.tenant('a').kubectl('get', '--raw', '/readyz')).toBe('ok');
    const pod = await second.tenant('a').runPod();
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
  return waitFor(
    'a new world exists',
    () => worldIds().find((id) => !otherWorlds.has(id)),
    STARTING,
  );
}

/** Returns the names of the processes in the ledger of a world that is starting. */
function processNames(id: string): string[] {
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

/** Waits until the machine is restored, because network namespaces end a moment after their last process. */
async function expectRestored(): Promise<void> {
  let after = await footprint();
  const isAsBefore = async () => {
    after = await footprint();
    return Bun.deepEquals(after, before);
  };
  // On a timeout, the comparison below shows the difference.
  await waitFor('the machine is restored', isAsBefore).catch(() => {});
  expect(after).toEqual(before);
}
