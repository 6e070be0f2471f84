import { expect, test } from 'bun:test';
import { Counters } from '../../engine/counters.ts';
import { countersLayout } from '../reasons.ts';
import { RateLimit } from '../switchboard/rate-limit.ts';
import { until } from '../testing/lab.ts';
import { CrewMember, ThreadCannotStart } from './crew-member.ts';
import type { ThreadStart } from './messages.ts';

const SLOTS = 4;

/** A thread that listens on loopback, and what it tells. */
function member(change: Partial<ThreadStart> = {}) {
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
  const of = new CrewMember(0, counters, () => start, {
    onDeath: (_index, _error, restartMs) => restartsMs.push(restartMs),
    onLoss: (index) => losses.push(index),
    onMessage: () => {},
  });
  return { of, restartsMs, losses };
}

test('says where it listens, and closes that when it is stopped', async () => {
  const { of, restartsMs } = member();

  const [address] = await of.start();
  await of.stop();
  const again = Bun.listen({ hostname: '127.0.0.1', port: address!.port, socket: { data() {} } });

  expect(again.port).toBe(address!.port);
  expect(restartsMs).toEqual([]);
  again.stop();
});

test('cannot start where it cannot listen, and says so', async () => {
  const { of } = member({ listen: [{ address: '192.0.2.1', port: 0 }] });

  await expect(of.start()).rejects.toThrow(ThreadCannotStart);
});

test('waits longer before each restart of a thread that dies again and again', async () => {
  const { of, restartsMs } = member();
  await of.start();

  for (let death = 1; death <= 3; death++) {
    of.tell({ type: 'routes', version: 1, changes: null! });
    await until(() => restartsMs.length === death, 'the death');
    await until(() => of.isListening, 'the restart');
  }
  await of.stop();

  expect(restartsMs).toEqual([100, 200, 400]);
  expect(of.deaths).toBe(3);
});

test('does not restart a thread that left its sockets open: it reports the loss', async () => {
  const { of, restartsMs, losses } = member({ engine: 'epoll' });
  await of.start();

  of.kill();
  await until(() => losses.length === 1, 'the report');

  expect(of.isListening).toBeFalse();
  expect(restartsMs).toEqual([]);
});

test('counts nothing as open in a thread that died', async () => {
  const { of } = member();
  await of.start();
  of.counters.values[of.counters.row(2)] = 7;

  of.tell({ type: 'routes', version: 1, changes: null! });
  await until(() => of.deaths === 1, 'the death');

  expect(of.counters.slot(2).open).toBe(0);
  await of.stop();
});
