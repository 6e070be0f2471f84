import { describe, expect, test } from 'bun:test';
import { freePort } from '../../net/testing/free-port.ts';
import { Peer } from '../../net/testing/peer.ts';
import { Counters } from '../../engine/counters.ts';
import { countersLayout } from '../reasons.ts';
import { RateLimit } from '../router/rate-limit.ts';
import { until } from '../testing/lab.ts';
import { EngineThread, ThreadStartError } from './engine-thread.ts';
import type { FromThread, ThreadStart } from './messages.ts';

const SLOTS = 4;

/** Returns a thread that listens on loopback, with the events it reports. */
function createThread(change: Partial<ThreadStart> = {}) {
  const counters = new Counters(countersLayout(SLOTS));
  const start: ThreadStart = {
    type: 'start',
    index: 0,
    engine: 'bun',
    listen: [{ address: '127.0.0.1', port: 0 }],
    slots: SLOTS,
    counters: [counters.buffer],
    rates: new RateLimit(SLOTS).buffer,
    limits: {},
    maxConnections: 10,
    tenantLimits: { connections: 0, connectionsPerSecond: 0 },
    proxyProtocol: 'none',
    hasAccessLog: false,
    routes: [],
    version: 0,
    masterKeys: [],
    ...change,
  };
  const restartsMs: number[] = [];
  const losses: number[] = [];
  const messages: FromThread[] = [];
  const starts: number[] = [];
  const startData = () => {
    starts.push(performance.now());
    return start;
  };
  const thread = new EngineThread(0, counters, startData, {
    onCrash: (_index, _error, restartMs) => restartsMs.push(restartMs),
    onLoss: (index) => losses.push(index),
    onMessage: (_index, message) => messages.push(message),
  });
  return { thread, starts, restartsMs, losses, messages };
}

test('reports its listen addresses, and closes them when it is stopped', async () => {
  const { thread, restartsMs } = createThread();

  const [address] = await thread.start();
  await thread.stop();
  const again = Bun.listen({ hostname: '127.0.0.1', port: address!.port, socket: { data() {} } });

  expect(again.port).toBe(address!.port);
  expect(restartsMs).toEqual([]);
  again.stop();
});

async function isRefused(port: number): Promise<boolean> {
  try {
    (await Peer.dial(port)).close();
    return false;
  } catch {
    return true;
  }
}

describe.each(['bun', 'epoll'] as const)('on engine %s', (engine) => {
  test('fails to start if it cannot listen, and closes its other listeners', async () => {
    const port = freePort();
    const good = { address: '127.0.0.1', port };
    const { thread } = createThread({ engine, listen: [good, { address: '192.0.2.1', port: 0 }] });

    await expect(thread.start()).rejects.toThrow(ThreadStartError);

    expect(await isRefused(port)).toBeTrue();
  });

  test('closes its listener if it is stopped while it starts', async () => {
    const port = freePort();
    const { thread, restartsMs } = createThread({
      engine,
      listen: [{ address: '127.0.0.1', port }],
    });

    const started = thread.start().catch((error: unknown) => error);
    thread.stopAccepting();
    thread.closeOldest(1);
    await started;

    await until(async () => isRefused(port), 'the end of its listening');
    expect(restartsMs).toEqual([]);
    await thread.stop();
  });
});

test('is not restarted if it is stopped between its crash and its restart', async () => {
  const stopping = createThread();
  const restarting = createThread();
  const crash = async ({ thread, restartsMs }: typeof stopping) => {
    thread.send({ type: 'routes', version: 1, changes: null! });
    await until(() => restartsMs.length === 1, 'the crash');
  };
  await Promise.all([stopping.thread.start(), restarting.thread.start()]);

  await crash(stopping);
  stopping.thread.stopAccepting();
  // This thread crashes after the other one, so its restart comes later too.
  await crash(restarting);
  await until(() => restarting.starts.length === 2, 'the restart of the other thread');

  expect(stopping.starts).toHaveLength(1);
  await restarting.thread.stop();
});

test('accepts valid keys after invalid keys', async () => {
  const { thread, messages } = createThread();
  const hasSent = (type: FromThread['type']) => messages.some((message) => message.type === type);
  await thread.start();

  thread.send({ type: 'keys', masterKeys: null! });
  await until(() => hasSent('keys-refused'), 'the refusal');
  thread.send({ type: 'keys', masterKeys: [new Uint8Array(32)] });
  thread.send({ type: 'routes', version: 1, changes: { set: [], removed: [] } });
  await until(() => hasSent('applied'), 'the thread to continue');

  expect(messages.filter(({ type }) => type === 'keys-refused')).toHaveLength(1);
  await thread.stop();
});

test('increases the delay before each restart of a thread that keeps crashing', async () => {
  const { thread, restartsMs } = createThread();
  await thread.start();

  for (let crash = 1; crash <= 3; crash++) {
    thread.send({ type: 'routes', version: 1, changes: null! });
    await until(() => restartsMs.length === crash, 'the crash');
    await until(() => thread.isListening, 'the restart');
  }
  await thread.stop();

  expect(restartsMs).toEqual([100, 200, 400]);
  expect(thread.crashes).toBe(3);
});

test('does not restart a thread that ended without closing its sockets, and reports the loss', async () => {
  const { thread, restartsMs, losses } = createThread({ engine: 'epoll' });
  await thread.start();

  thread.kill();
  await until(() => losses.length === 1, 'the report');

  expect(thread.isListening).toBeFalse();
  expect(restartsMs).toEqual([]);
});

test('resets the gauges of a crashed thread', async () => {
  const { thread } = createThread();
  await thread.start();
  thread.counters.values[thread.counters.row(2)] = 7;

  thread.send({ type: 'routes', version: 1, changes: null! });
  await until(() => thread.crashes === 1, 'the crash');

  expect(thread.counters.slot(2).open).toBe(0);
  await thread.stop();
});
