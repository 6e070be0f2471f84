import { expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { GLOBAL } from '../counters.ts';
import { EngineProcess } from '../conformance/child.ts';
import { HELLO, NAME } from '../conformance/lab.ts';
import { Backend, Peer, until } from '../../net/testing/peer.ts';
import { Table } from '../conformance/table.ts';
import { EpollEngine } from './epoll-engine.ts';
import { EPOLL } from '../../system/linux.ts';
import { Poller } from '../../system/poller.ts';

/** A poller that drops events on request. */
class LossyPoller extends Poller {
  dropMask = 0;
  /** Number of dropped events. */
  droppedCount = 0;
  /** Whether it holds all events back for now. */
  isHeld = false;
  /** Called synchronously when no event is pending. */
  onQuiet = () => {};

  override wait(timeoutMs: number): number {
    if (this.isHeld) return 0;
    // In a process that was stopped, epoll_wait returns EINTR, even if there are events.
    const count = super.wait(timeoutMs) || super.wait(0);
    if (count === 0) this.onQuiet();
    return count;
  }

  override events(index: number): number {
    const events = super.events(index);
    if ((events & this.dropMask) !== 0) this.droppedCount++;
    return events & ~this.dropMask;
  }
}

/** Starts an engine with such a poller between a client and its backend. */
async function lossyPair() {
  const backend = new Backend();
  const table = new Table([{ name: NAME, endpoints: [['127.0.0.1', backend.port]] }]);
  const clock = new ManualClock();
  const poller = new LossyPoller();
  const { counters } = table;
  const engine = new EpollEngine(
    {
      router: table,
      counters,
      clock,
      onFault(error) {
        throw error;
      },
    },
    poller,
  );
  const port = engine.listen({ address: '127.0.0.1', port: 0 });
  const client = await Peer.dial(port);
  await client.send(HELLO);
  const upstream = await backend.next();
  await until(() => upstream.received === HELLO.length, 'the hello');
  const stop = () => {
    engine.stop();
    backend[Symbol.dispose]();
  };
  return { client, upstream, counters, clock, poller, table, [Symbol.dispose]: stop };
}

/** Resolves when the poller has dropped an event and has reported all others. */
async function untilDropped(poller: LossyPoller): Promise<void> {
  await until(() => poller.droppedCount > 0, 'a dropped event');
  await untilQuiet(poller);
}

/** Resolves when the engine has handled all events, and calls `run` at that moment. */
async function untilQuiet(poller: LossyPoller, run: () => void = () => {}): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  poller.onQuiet = () => {
    poller.onQuiet = () => {};
    run();
    resolve();
  };
  await promise;
}

test('recovers bytes that epoll never reported, and counts the event', async () => {
  using pair = await lossyPair();
  const { client, upstream, counters, clock, poller } = pair;

  poller.dropMask = EPOLL.IN;
  await client.send(Buffer.from('lost'));
  await untilDropped(poller);
  expect(upstream.received).toBe(HELLO.length);
  poller.dropMask = 0;
  for (let tick = 0; tick < 19; tick++) clock.advance(1000);

  await until(() => upstream.received === HELLO.length + 4, 'the lost bytes');
  expect(counters.global('recoveredEvents')).toBe(1);
});

test('recovers a reset that epoll never reported', async () => {
  using pair = await lossyPair();
  const { client, upstream, counters, clock, poller, table } = pair;

  poller.dropMask = ~0;
  client.reset();
  await untilDropped(poller);
  expect(upstream.closed).toBe(false);
  poller.dropMask = 0;
  for (let tick = 0; tick < 19; tick++) clock.advance(1000);

  await until(() => upstream.closed, 'the end of the upstream');
  expect(upstream.wasReset).toBe(true);
  expect(table.closedConnections.at(-1)?.reason).toBe('client_reset');
  expect(counters.global('open')).toBe(0);
});

test('recovers a reader that accepts bytes again if epoll never reports it', async () => {
  using pair = await lossyPair();
  const { client, upstream, counters, clock, poller } = pair;
  const payload = Buffer.alloc(16 << 20, 3);
  client.pause();
  const sending = upstream.send(payload);
  await until(() => counters.global('bufferedBytes') > 0, 'a stalled reader');

  poller.dropMask = EPOLL.OUT;
  client.resume();
  await untilDropped(poller);
  const stuckAt = client.received;
  expect(stuckAt).toBeLessThan(payload.length);
  poller.dropMask = 0;
  for (let tick = 0; tick < 4; tick++) clock.advance(1000);
  await sending;

  await until(() => client.received === payload.length, 'all bytes');
  expect(counters.global('recoveredEvents')).toBe(1);
});

test('does not mistake a slow reader for a lost event', async () => {
  using pair = await lossyPair();
  const { client, upstream, counters, clock, poller } = pair;
  client.pause();
  const sending = upstream.send(Buffer.alloc(16 << 20));
  await until(() => counters.global('bufferedBytes') > 0, 'a stalled reader');

  // Reads a little at a time: less than epoll requires to report the socket as writable, enough for send().
  client.onData = () => client.pause();
  for (let drip = 0; drip < 20; drip++) {
    const before = client.received;
    client.resume();
    await until(() => client.received > before, 'a drip');
    // If a drip has made the socket writable, epoll must report that before the sweep checks.
    for (let tick = 0; tick < 4; tick++) await untilQuiet(poller, () => clock.advance(1000));
  }
  client.onData = () => {};
  client.resume();
  await sending;

  expect(counters.global('recoveredEvents')).toBe(0);
});

test('does not mistake bytes that arrive just before a sweep for a lost event', async () => {
  using pair = await lossyPair();
  const { client, upstream, counters, clock, poller } = pair;

  // Three ticks each: after sixteen rounds, the sweep has probed each socket with bytes that epoll had not reported
  // yet.
  for (let sent = 1; sent <= 16; sent++) {
    for (let tick = 0; tick < 2; tick++) await untilQuiet(poller, () => clock.advance(1000));
    poller.isHeld = true;
    await client.send(Buffer.from('x'));
    clock.advance(1000);
    poller.isHeld = false;
    await until(() => upstream.received === HELLO.length + sent, 'the byte');
  }

  expect(counters.global('recoveredEvents')).toBe(0);
});

test('does not disturb an idle pair', async () => {
  using pair = await lossyPair();

  for (let tick = 0; tick < 40; tick++) pair.clock.advance(1000);

  expect(pair.counters.values[GLOBAL.recoveredEvents]).toBe(0);
  await pair.client.send(Buffer.from('on'));
  await until(() => pair.upstream.received === HELLO.length + 2, 'the bytes');
});

test('idles when accept4 fails without descriptors, and continues when some are free', async () => {
  using backend = new Backend();
  const rows = [{ name: NAME, endpoints: [['127.0.0.1', backend.port] as const] }];
  // Disables the limit of the engine, so that accept4 fails.
  const limits = { maxDescriptors: Number.MAX_SAFE_INTEGER };
  await using child = await EngineProcess.start('epoll', rows, { maxFiles: 64, limits });
  const { port } = await child.report();

  const clients: Peer[] = [];
  for (let count = 0; count < 100; count++) clients.push(await Peer.dial(port));
  await child.until(({ accepted }) => accepted > 30, 'most descriptors used');
  const idle = await child.untilIdle(0.4);

  expect(idle.accepted).toBeLessThan(64);
  for (const client of clients) client.reset();
  await child.until(
    ({ accepted, open }) => accepted === 100 && open === 0,
    'all clients accepted and closed',
  );
  const peersBefore = backend.peers.length;
  const client = await Peer.dial(port);
  await client.send(HELLO);
  await until(() => backend.peers[peersBefore]?.received === HELLO.length, 'a new connection');
});
