/** Tests for limits, listening, draining and stopping. */
import { expect, test } from 'bun:test';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { Counters, GLOBAL } from '../../counters.ts';
import { keepaliveMs } from '../../../net/testing/keepalive.ts';
import { HELLO, Lab } from '../lab.ts';
import { Peer, until } from '../../../net/testing/peer.ts';

/** Registers the tests for one engine. */
export function limitsSuite(engine: string): void {
  test('closes a client that does not finish its hello in time', async () => {
    using lab = new Lab(engine);
    const silent = await lab.dial();
    const slow = await lab.dial();
    await slow.send(HELLO.subarray(0, 10));
    await until(() => lab.counters.global('unfinishedHellos') === 2, 'both accepted');

    lab.clock.advance(9000);
    expect(lab.counters.global('unfinishedHellos')).toBe(2);
    lab.clock.advance(1000);

    await until(() => silent.sawFin, 'the FIN to the silent client');
    await until(() => slow.sawFin || slow.closed, 'the end of the slow client');
    expect(lab.counters.failures()).toEqual({ hello_timeout: 2 });
    expect(lab.counters.global('open')).toBe(0);
  });

  test('never closes a joined pair for being idle', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();

    lab.clock.advance(7 * 24 * 3600 * 1000);
    await client.send(Buffer.from('back'));

    await until(() => upstream.received === HELLO.length + 4, 'bytes after a week');
  });

  test('sends keepalive probes to idle peers on both sides after 55 s', async () => {
    using lab = new Lab(engine);
    await lab.pair();
    lab.clock.advance(1000);

    const timersMs = () => [
      keepaliveMs(({ localPort }) => localPort === lab.port),
      keepaliveMs(({ remotePort }) => remotePort === lab.backend.port),
    ];
    // While a byte is not acknowledged, the kernel shows its retransmission timer instead.
    await until(() => timersMs().every((timerMs) => timerMs !== undefined), 'both timers');
    for (const timerMs of timersMs()) {
      // The remaining time: the machine may pause for a while.
      expect(timerMs).toBeGreaterThan(30_000);
      expect(timerMs).toBeLessThanOrEqual(55_000);
    }
  });

  test('refuses a client whose first bytes reach the limit without naming an upstream', async () => {
    using lab = new Lab(engine, { limits: { maxFirstBytes: 64 } });
    const client = await lab.dial();

    await client.send(HELLO);

    await until(() => client.sawFin, 'the end');
    expect(lab.counters.failures()).toEqual({ first_bytes_too_long: 1 });
  });

  test('resets connections over the limit, and accepts new ones below it', async () => {
    using lab = new Lab(engine, { limits: { maxConnections: 2 } });
    const first = await lab.pair();
    await lab.pair();

    const third = await lab.dial();
    await until(() => third.closed, 'the end of the third');
    expect(third.wasReset).toBe(true);
    expect(lab.counters.failures()).toEqual({ connections_limit: 1 });
    first.client.reset();
    await until(() => lab.counters.global('open') === 1, 'room');

    await lab.pair();
    expect(lab.counters.global('accepted')).toBe(4);
  });

  test('reserves descriptors for clients of other threads that have no upstream yet', async () => {
    const neighbor = new Counters({ slots: 1 });
    using lab = new Lab(engine, { limits: { maxDescriptors: 10_000 }, neighbors: [neighbor] });
    await lab.pair();

    neighbor.add(GLOBAL.unfinishedHellos, 5_000);
    neighbor.add(GLOBAL.dialing, 5_000);
    const refused = await lab.dial();
    await until(() => refused.closed, 'the end of the client over the limit');
    neighbor.add(GLOBAL.dialing, -5_000);

    await lab.pair();
    expect(lab.counters.failures()).toEqual({ descriptors_limit: 1 });
  });

  test('limits unfinished hellos overall', async () => {
    using lab = new Lab(engine, { limits: { maxUnfinishedHellos: 2 } });
    const waiting = [await lab.dial(), await lab.dial()];
    await until(() => lab.counters.global('unfinishedHellos') === 2, 'two unfinished hellos');

    const third = await lab.dial();
    await until(() => third.closed, 'the end of the third');
    expect(lab.counters.failures()).toEqual({ hellos_limit: 1 });
    await waiting[0]?.send(HELLO);
    await until(() => lab.counters.global('unfinishedHellos') === 1, 'one unfinished hello');

    await lab.pair();
  });

  test('limits unfinished hellos per source address', async () => {
    const limit = 8;
    using lab = new Lab(engine, { limits: { maxUnfinishedHellosPerSource: limit } });
    const port6 = lab.engine.listen({ address: '::1', port: 0 });
    const clients: Peer[] = [];
    for (let count = 0; count < limit; count++) clients.push(await lab.dial());
    await until(
      () => lab.counters.global('unfinishedHellos') === limit,
      'the maximum number of unfinished hellos',
    );

    const tooMany = await lab.dial();
    const other = await Peer.dial(port6, '::1');

    await until(() => tooMany.closed, 'the end of the client over the limit');
    expect(lab.counters.failures()).toEqual({ source_limit: 1 });
    await other.send(HELLO);
    await lab.backend.next();
    await clients[0]?.send(HELLO);
    await lab.backend.next();
    await lab.dial(); // takes the place of the client that has finished
    await until(
      () => lab.counters.global('unfinishedHellos') === limit,
      'the maximum number of unfinished hellos again',
    );
    lab.clock.advance(10_000); // all of them time out, so that the source may connect again
    await until(() => lab.counters.global('unfinishedHellos') === 0, 'no unfinished hello');
    await lab.dial();
    await until(() => lab.counters.global('unfinishedHellos') === 1, 'a new one');
  });

  test('does not limit a shared source address, but limits other addresses', async () => {
    const limit = 4;
    using lab = new Lab(engine, { limits: { maxUnfinishedHellosPerSource: limit } });
    lab.table.balancers.add('::1');
    const port6 = lab.engine.listen({ address: '::1', port: 0 });
    for (let count = 0; count < 2 * limit; count++) await Peer.dial(port6, '::1');
    await until(
      () => lab.counters.global('unfinishedHellos') === 2 * limit,
      'the clients behind the balancer',
    );

    const extra: Peer[] = [];
    for (let count = 0; count <= limit; count++) extra.push(await lab.dial());
    await until(() => extra.some(({ closed }) => closed), 'the end of the client over the limit');
    await Peer.dial(port6, '::1');

    await until(() => lab.counters.global('unfinishedHellos') === 3 * limit + 1, 'one more');
    expect(extra.filter(({ closed }) => closed)).toHaveLength(1);
    expect(lab.counters.failures()).toEqual({ source_limit: 1 });
  });

  test('serves IPv6 clients and upstreams', async () => {
    using lab = new Lab(engine, { address: '::1' });
    const { client, upstream } = await lab.pair();

    await upstream.send(Buffer.from('six'));
    await until(() => client.received === 3, 'the answer');
    client.fin();
    await until(() => upstream.sawFin, 'the FIN');
    upstream.fin();

    expect(await lab.lastClosed()).toMatchObject({
      remoteAddress: '::1',
      endpoint: `[::1]:${lab.backend.port}`,
    });
  });

  test('listens on one port for both IP families, and shares it with reusePort', async () => {
    using lab = new Lab(engine);
    using other = new Lab(engine);
    const port = lab.engine.listen({ address: '0.0.0.0', port: 0, reusePort: true });
    lab.engine.listen({ address: '::', port, reusePort: true });
    other.engine.listen({ address: '0.0.0.0', port, reusePort: true });

    await Peer.dial(port, '::1');

    await until(() => lab.counters.global('accepted') === 1, 'the connection over IPv6');
    expect(() => other.engine.listen({ address: '127.0.0.1', port: lab.port })).toThrow(
      expect.objectContaining({ code: 'EADDRINUSE' }),
    );
  });

  test('keeps open connections when it stops accepting', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();

    lab.engine.stopAccepting();

    const dial = await Promise.allSettled([lab.dial()]);
    expect(dial).toMatchObject([{ status: 'rejected', reason: { code: 'ECONNREFUSED' } }]);
    await client.send(Buffer.from('on'));
    await until(() => upstream.received === HELLO.length + 2, 'bytes after the stop');
    await upstream.send(Buffer.from('and on'));
    await until(() => client.received === 6, 'bytes back');
  });

  test('closes the oldest connections first', async () => {
    using lab = new Lab(engine);
    const oldest = await lab.pair();
    const older = await lab.pair();
    const young = await lab.pair();

    expect(lab.engine.closeOldest(2)).toBe(2);

    for (const { client, upstream } of [oldest, older]) {
      await until(() => client.sawFin && upstream.sawFin, 'a FIN for both');
      expect(client.wasReset || upstream.wasReset).toBe(false);
    }
    expect(young.client.closed || young.client.sawFin).toBe(false);
    expect(lab.counts()).toMatchObject({ open: 1, failures: { drained: 2 } });
    expect(lab.engine.closeOldest(5)).toBe(1);
  });

  test('counts IPv6 clients of one network as one source', async () => {
    const limit = 4;
    using lab = new Lab(engine, {
      address: '::1',
      limits: { maxUnfinishedHellosPerSource: limit },
    });
    for (let count = 0; count < limit; count++) await lab.dial();
    await until(
      () => lab.counters.global('unfinishedHellos') === limit,
      'the maximum number of unfinished hellos',
    );

    const tooMany = await lab.dial();

    await until(() => tooMany.closed, 'the end of the client over the limit');
    expect(lab.counters.failures()).toEqual({ source_limit: 1 });
  });

  test('can be stopped twice', async () => {
    using lab = new Lab(engine);
    await lab.pair();

    lab.engine.stop();
    // Files opened now may reuse the descriptors that were closed.
    const files = Array.from({ length: 16 }, () => openSync('/dev/null', 'r'));
    lab.engine.stop();

    for (const file of files) expect(fstatSync(file).isCharacterDevice()).toBe(true);
    for (const file of files) closeSync(file);
  });

  test('resets a connection that it closes with undelivered bytes', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();
    client.pause();
    const sending = upstream.send(Buffer.alloc(32 << 20));
    await until(() => lab.counters.global('bufferedBytes') > 0, 'a stalled client');

    lab.engine.closeOldest(1);
    client.resume();
    await sending;

    await until(() => client.closed, 'the end');
    expect(client.wasReset).toBe(true);
  });

  test('closes all connections when it stops', async () => {
    using lab = new Lab(engine);
    const { client, upstream } = await lab.pair();
    const silent = await lab.dial();
    await until(() => lab.counters.global('open') === 2, 'both connections');

    lab.engine.stop();

    await until(() => client.closed && upstream.closed && silent.closed, 'the end of all');
    expect(lab.counters.global('open')).toBe(0);
    expect(lab.counters.global('unfinishedHellos')).toBe(0);
  });
}
