import { describe, expect, test } from 'bun:test';
import { freePort } from '../../net/testing/free-port.ts';
import { Peer } from '../../net/testing/peer.ts';
import { Counters } from '../../engine/counters.ts';
import { countersLayout } from '../reasons.ts';
import { RateLimit } from '../router/rate-limit.ts';
import { until } from '../testing/lab.ts';
import { EngineThread, ThreadCannotStart } from './engine-thread.ts';
import type { FromThread, ThreadStart } from './messages.ts';

const SLOTS = 4;

/** Returns a thread that listens on loopback, with the events it reports. */
function thread(change: Partial<ThreadStart> = {}) {
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
    proxyProtocol: 'nobody',
    hasAccessLog: false,
    routes: [],
    version: 0,
    masterKeys: [],
    ...change,
  };
  const restartsMs: number[] = [];
  const losses: number[] = [];
  const handle: FromThread[] = [];
  const starts: number[] = [];
  const startData = () => {
    starts.push(performance.now());
    return start;
  };
  const of = new EngineThread(0, counters, startData, {
    onDeath: (_index, _error, restartMs) => restartsMs.push(restartMs),
    onLoss: (index) => losses.push(index),
    onMessage: (_index, message) => handle.push(message),
  });
  return { of, starts, restartsMs, losses, handle };
}

test('says where it listens, and closes that when it is stopped', async () => {
  const { of, restartsMs } = thread();

  const [address] = await of.start();
  await of.stop();
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
  test('cannot start where it cannot listen, says so, and leaves nothing open', async () => {
    const port = freePort();
    const good = { address: '127.0.0.1', port };
    const { of } = thread({ engine, listen: [good, { address: '192.0.2.1', port: 0 }] });

    await expect(of.start()).rejects.toThrow(ThreadCannotStart);

    expect(await isRefused(port)).toBeTrue();
  });

  test('does not go on listening if it is told to leave while it starts', async () => {
    const port = freePort();
    const { of, restartsMs } = thread({ engine, listen: [{ address: '127.0.0.1', port }] });

    const started = of.start().catch((error: unknown) => error);
    of.stopAccepting();
    of.closeOldest(1);
    await started;

    await until(async () => isRefused(port), 'the end of its listening');
    expect(restartsMs).toEqual([]);
    await of.stop();
  });
});

test('stays dead if it is told to leave between its death and its restart', async () => {
  const leaving = thread();
  const staying = thread();
  const die = async ({ of, restartsMs }: typeof leaving) => {
    of.send({ type: 'routes', version: 1, changes: null! });
    await until(() => restartsMs.length === 1, 'the death');
  };
  await Promise.all([leaving.of.start(), staying.of.start()]);

  await die(leaving);
  leaving.of.stopAccepting();
  // It dies later than the other thread, so its restart comes later too.
  await die(staying);
  await until(() => staying.starts.length === 2, 'the restart of the other');

  expect(leaving.starts).toHaveLength(1);
  await staying.of.stop();
});

test('takes new keys after some that it could not use', async () => {
  const { of, handle } = thread();
  const said = (type: FromThread['type']) => handle.some((message) => message.type === type);
  await of.start();

  of.send({ type: 'keys', masterKeys: null! });
  await until(() => said('keys-refused'), 'the refusal');
  of.send({ type: 'keys', masterKeys: [new Uint8Array(32)] });
  of.send({ type: 'routes', version: 1, changes: { set: [], removed: [] } });
  await until(() => said('applied'), 'the thread to go on');

  expect(handle.filter(({ type }) => type === 'keys-refused')).toHaveLength(1);
  await of.stop();
});

test('waits longer before each restart of a thread that dies again and again', async () => {
  const { of, restartsMs } = thread();
  await of.start();

  for (let death = 1; death <= 3; death++) {
    of.send({ type: 'routes', version: 1, changes: null! });
    await until(() => restartsMs.length === death, 'the death');
    await until(() => of.isListening, 'the restart');
  }
  await of.stop();

  expect(restartsMs).toEqual([100, 200, 400]);
  expect(of.deaths).toBe(3);
});

test('does not restart a thread that left its sockets open: it reports the loss', async () => {
  const { of, restartsMs, losses } = thread({ engine: 'epoll' });
  await of.start();

  of.kill();
  await until(() => losses.length === 1, 'the report');

  expect(of.isListening).toBeFalse();
  expect(restartsMs).toEqual([]);
});

test('counts nothing as open in a thread that died', async () => {
  const { of } = thread();
  await of.start();
  of.counters.values[of.counters.row(2)] = 7;

  of.send({ type: 'routes', version: 1, changes: null! });
  await until(() => of.deaths === 1, 'the death');

  expect(of.counters.slot(2).open).toBe(0);
  await of.stop();
});
