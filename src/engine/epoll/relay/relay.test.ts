import { expect, test } from 'bun:test';
import { HELLO, Lab } from '../../conformance/lab.ts';
import { until, type Peer } from '../../../net/testing/peer.ts';
import { urgentClient } from '../../conformance/urgent-client.ts';

const PAYLOAD = Buffer.alloc(32 << 20, 9);
const MAX_BUFFERED_BYTES = 1_000_000;

/** Starts stalled readers until half of the limit is used, so that the bytes of the next ones stay in the kernel. */
async function tightLab(): Promise<{ lab: Lab; readers: Peer[] }> {
  const lab = new Lab('epoll', { limits: { maxBufferedBytes: MAX_BUFFERED_BYTES } });
  const readers: Peer[] = [];
  while (lab.counters.global('bufferedBytes') <= MAX_BUFFERED_BYTES / 2)
    readers.push(await stalled(lab));
  return { lab, readers };
}

/** Starts a stalled reader with a payload and a FIN in flight. */
async function stalled(lab: Lab): Promise<Peer> {
  const { client, upstream } = await lab.pair();
  client.pause();
  void upstream.send(PAYLOAD).then(() => upstream.fin());
  await until(() => upstream.isBlocked, 'a blocked upstream');
  return client;
}

test('leaves bytes in the kernel once half of the buffer limit is used, and resets no connection', async () => {
  const { lab, readers } = await tightLab();
  using _ = lab;
  const buffered = lab.counters.global('bufferedBytes');

  const otherPairs = [await stalled(lab), await stalled(lab)];
  const bufferedLater = lab.counters.global('bufferedBytes');
  for (const reader of [...readers, ...otherPairs]) reader.resume();
  await until(() => [...readers, ...otherPairs].every(({ sawFin }) => sawFin), 'all FINs');

  expect(bufferedLater).toBe(buffered);
  expect(otherPairs.map(({ received }) => received)).toEqual([PAYLOAD.length, PAYLOAD.length]);
  expect(lab.counters.failures()).toEqual({});
  expect(lab.counters.global('recoveredEvents')).toBe(0);
  expect(lab.counters.global('bufferedBytes')).toBe(0);
});

test('buffers again once the buffers are free', async () => {
  const { lab, readers } = await tightLab();
  using _ = lab;
  for (const reader of readers) reader.reset();
  await until(() => lab.counters.global('open') === 0, 'no connection left');

  lab.clock.advance(1000);
  const reader = await stalled(lab);

  expect(lab.counters.global('bufferedBytes')).toBeGreaterThan(0);
  reader.reset();
});

test('resets a connection that is closed while the kernel has bytes for it', async () => {
  const { lab, readers } = await tightLab();
  using _ = lab;
  const last = await stalled(lab);

  lab.engine.closeOldest(readers.length + 1);
  last.resume();

  await until(() => last.closed, 'the end');
  expect(last.wasReset).toBe(true);
});

test('forwards all bytes around an urgent one with a low buffer limit', async () => {
  const { lab, readers } = await tightLab();
  using _ = lab;

  using _client = urgentClient(lab.port, { hello: HELLO, endsWithFin: true });
  await until(() => lab.backend.peers.length === readers.length + 1, 'the connection');
  const upstream = lab.backend.peers.at(-1)!;
  await until(() => upstream.sawFin, 'the FIN');

  const received = upstream.bytes().subarray(HELLO.length).toString();
  expect(received.replace('!', '')).toBe('beforebehind');
});
