/**
 * Tests for a client that is connected to an upstream: bytes, FINs and resets arrive completely and in order, and the
 * engine buffers few bytes.
 */
import { expect, test } from 'bun:test';
import { HELLO, Lab } from '../lab.ts';
import { until } from '../../../net/testing/peer.ts';
import { urgentClient } from '../urgent-client.ts';

const MEGABYTE = 1 << 20;

/** Registers the tests for one engine. */
export function relaySuite(engine: string): void {
  test('forwards bytes both ways and counts them', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();

    await client.send(Buffer.from('ping'));
    await until(() => upstream.received === HELLO.length + 4, 'the ping');
    await upstream.send(Buffer.from('pong!'));
    await until(() => client.received === 5, 'the pong');
    client.close();

    expect(upstream.bytes().toString('latin1')).toBe(`${HELLO.toString('latin1')}ping`);
    expect(client.bytes().toString()).toBe('pong!');
    await until(() => upstream.sawFin, 'the FIN');
    upstream.close();
    const closed = await lab.lastClosed();
    expect(closed).toMatchObject({ reason: 'completed', slot: 0, attempts: 1 });
    expect(closed).toMatchObject({ bytesUp: HELLO.length + 4, bytesDown: 5 });
    expect(closed.remoteAddress).toBe('127.0.0.1');
    expect(lab.counts()).toMatchObject({ open: 0, total: 1, bytesUp: HELLO.length + 4, dials: 1 });
    expect(lab.counts().bytesDown).toBe(5);
    expect(lab.counters.failures()).toEqual({});
  });

  test('forwards bytes to the client after the FIN of the client', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();

    client.fin();
    await until(() => upstream.sawFin, 'the FIN of the client');
    await upstream.send(Buffer.alloc(MEGABYTE, 7));
    upstream.fin();

    await until(() => client.sawFin, 'the FIN of the upstream');
    expect(client.received).toBe(MEGABYTE);
    expect((await lab.lastClosed()).reason).toBe('completed');
  });

  test('forwards bytes to the upstream after the FIN of the upstream', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();

    upstream.fin();
    await until(() => client.sawFin, 'the FIN of the upstream');
    await client.send(Buffer.alloc(MEGABYTE, 7));
    client.fin();

    await until(() => upstream.sawFin, 'the FIN of the client');
    expect(upstream.received).toBe(HELLO.length + MEGABYTE);
    expect((await lab.lastClosed()).reason).toBe('completed');
  });

  test('forwards all bytes to a slow reader before the FIN', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();
    client.pause();

    const sending = upstream.send(Buffer.alloc(24 * MEGABYTE, 3)).then(() => upstream.fin());
    await until(() => lab.counters.global('bufferedBytes') > 0, 'a stalled client');
    client.fin();
    client.resume();
    await sending;

    await until(() => client.sawFin && upstream.sawFin, 'both FINs');
    expect(client.received).toBe(24 * MEGABYTE);
    expect((await lab.lastClosed()).bytesDown).toBe(24 * MEGABYTE);
    expect(lab.counters.global('bufferedBytes')).toBe(0);
  });

  for (const stalled of ['client', 'upstream'] as const) {
    test(`buffers at most a megabyte for a stalled ${stalled}, and loses no byte`, async () => {
      using lab = new Lab(engine);
      const pair = await lab.pair();
      const reader = pair[stalled];
      const writer = stalled === 'client' ? pair.upstream : pair.client;
      const payload = Buffer.alloc(32 * MEGABYTE, 5);
      const before = reader.received;
      reader.pause();

      let isSent = false;
      const sending = writer.send(payload).then(() => (isSent = true));
      await until(() => lab.counters.global('bufferedBytes') > 0, 'a stalled reader');
      const buffered = lab.counters.global('bufferedBytes');
      const wasSent = isSent;
      reader.resume();
      await sending;
      await until(() => reader.received - before === payload.length, 'the whole payload');

      expect(wasSent).toBe(false);
      expect(buffered).toBeLessThanOrEqual(MEGABYTE);
      expect(lab.counters.global('bufferedBytes')).toBe(0);
    });
  }

  for (const isLast of [true, false]) {
    test(`forwards all bytes before and after an urgent byte, ${isLast ? 'followed by a FIN' : 'without a FIN'}`, async () => {
      using lab = new Lab(engine);

      using _client = urgentClient(lab.port, { hello: HELLO, endsWithFin: isLast });
      const upstream = await lab.backend.next();
      await until(() => upstream.received >= HELLO.length + 12, 'all bytes');

      const received = upstream.bytes().subarray(HELLO.length).toString();
      expect(received.replace('!', '')).toBe('beforebehind');
      if (isLast) await until(() => upstream.sawFin, 'the FIN');
      expect(lab.counters.global('recoveredEvents')).toBe(0);
    });
  }

  test('loses no bytes and no connection while signals arrive', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();
    const onSignal = () => {};
    process.on('SIGUSR2', onSignal);
    const payload = Buffer.alloc(64 * MEGABYTE, 6);

    const sending = upstream.send(payload);
    while (client.received < payload.length && !client.closed) {
      process.kill(process.pid, 'SIGUSR2');
      await Bun.sleep(0);
    }
    await sending;

    expect(client.received).toBe(payload.length);
    for (let tick = 0; tick < 4; tick++) lab.clock.advance(1000);
    expect(lab.counters.global('recoveredEvents')).toBe(0);
    process.off('SIGUSR2', onSignal);
  });

  test('forwards a reset of the client to the upstream', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();

    client.reset();

    await until(() => upstream.closed, 'the end of the upstream');
    expect(upstream.wasReset).toBe(true);
    expect((await lab.lastClosed()).reason).toBe('client_reset');
    expect(lab.counts().failures).toEqual({ client_reset: 1 });
  });

  test('counts a reset after a FIN as completed', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();
    client.fin();
    await until(() => upstream.sawFin, 'the FIN of the client');

    client.reset();
    await until(() => upstream.closed, 'the end of the upstream');

    expect(upstream.wasReset).toBe(true);
    expect((await lab.lastClosed()).reason).toBe('completed');
    expect(lab.counters.failures()).toEqual({});
  });

  test('forwards a reset of the upstream to the client', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();

    upstream.reset();

    await until(() => client.closed, 'the end of the client');
    expect(client.wasReset).toBe(true);
    expect((await lab.lastClosed()).reason).toBe('upstream_reset');
  });

  for (const stalled of ['client', 'upstream'] as const) {
    test(`releases the buffer of a stalled ${stalled} that resets`, async () => {
      using lab = new Lab(engine);
      const pair = await lab.pair();
      const reader = pair[stalled];
      const writer = stalled === 'client' ? pair.upstream : pair.client;
      reader.pause();
      const sending = writer.send(Buffer.alloc(32 * MEGABYTE));
      await until(() => lab.counters.global('bufferedBytes') > 0, 'a stalled reader');

      reader.reset();

      await until(() => writer.closed, 'the end of the other side');
      await sending;
      expect((await lab.lastClosed()).reason).toBe(`${stalled}_reset`);
      expect(lab.counters.global('bufferedBytes')).toBe(0);
    });
  }

  test('forwards a reset of the upstream to a client that has sent a FIN', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();
    client.fin();
    await until(() => upstream.sawFin, 'the FIN of the client');

    upstream.reset();

    await until(() => client.closed, 'the end of the client');
    expect((await lab.lastClosed()).reason).toBe('upstream_reset');
  });
}
