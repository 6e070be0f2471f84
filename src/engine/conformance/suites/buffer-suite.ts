/** Tests for the limit on bytes buffered for slow readers, over all connections of all threads. */
import { expect, test } from 'bun:test';
import { GLOBAL, Counters } from '../../counters.ts';
import { HELLO, Lab } from '../lab.ts';
import { until, type Peer } from '../../../net/testing/peer.ts';

const PAYLOAD = Buffer.alloc(32 << 20, 9);
const STALLED = 12;
const MAX_BUFFERED_BYTES = 1_500_000;

/**
 * Starts stalled readers, one after the other, each with a payload in flight. Returns the maximum number of buffered
 * bytes.
 */
async function startStalledReaders(lab: Lab): Promise<{ readers: Peer[]; maxBuffered: number }> {
  const readers: Peer[] = [];
  let maxBuffered = 0;
  for (let count = 0; count < STALLED; count++) {
    const { client, upstream } = await lab.pair();
    client.pause();
    readers.push(client);
    void upstream.send(PAYLOAD);
    await until(() => {
      maxBuffered = Math.max(maxBuffered, lab.counters.global('bufferedBytes'));
      return upstream.isBlocked || upstream.closed;
    }, 'a blocked or closed upstream');
  }
  return { readers, maxBuffered };
}

/** Registers the tests for one engine. */
export function bufferSuite(engine: string): void {
  test('limits the bytes buffered for all stalled readers, and serves other connections', async () => {
    using lab = new Lab(engine, { limits: { maxBufferedBytes: MAX_BUFFERED_BYTES } });
    const active = await lab.pair();

    const { readers, maxBuffered } = await startStalledReaders(lab);
    await active.client.send(Buffer.from('ping'));
    await until(() => active.upstream.received === HELLO.length + 4, 'the ping');
    await active.upstream.send(Buffer.from('pong'));
    await until(() => active.client.received === 4, 'the pong');
    for (const reader of readers) reader.resume();
    await until(
      () => readers.every(({ received, closed }) => received === PAYLOAD.length || closed),
      'the whole payload or a reset for each reader',
    );

    expect(maxBuffered).toBeGreaterThan(0);
    expect(maxBuffered).toBeLessThanOrEqual(MAX_BUFFERED_BYTES);
    const complete = readers.filter(({ received }) => received === PAYLOAD.length);
    const { buffered_bytes_limit: resets = 0, ...others } = lab.counters.failures();
    expect(complete.length + resets).toBe(STALLED);
    expect(complete.length).toBeGreaterThan(0);
    expect(others).toEqual({});
    expect(readers.filter(({ wasReset }) => wasReset)).toHaveLength(resets);
    const digest = new Bun.CryptoHasher('sha256').update(PAYLOAD).digest('hex');
    expect(complete.map(({ hash }) => hash.digest('hex'))).toEqual(complete.map(() => digest));
    expect(lab.counters.global('bufferedBytes')).toBe(0);
  }, 240_000);

  test('resets the connection that would exceed the buffer limit of all threads', async () => {
    const neighbor = new Counters({ slots: 1 });
    neighbor.add(GLOBAL.bufferedBytes, MAX_BUFFERED_BYTES);
    using lab = new Lab(engine, {
      limits: { maxBufferedBytes: MAX_BUFFERED_BYTES },
      neighbors: [neighbor],
    });
    const { client, upstream } = await lab.pair();
    client.pause();

    void upstream.send(PAYLOAD);
    await until(() => upstream.closed, 'the end');

    expect(upstream.wasReset).toBe(true);
    expect((await lab.lastClosed()).reason).toBe('buffered_bytes_limit');
    expect(lab.counts().failures).toEqual({ buffered_bytes_limit: 1 });
    expect(lab.counters.global('bufferedBytes')).toBe(0);
  });
}
