/** Tests from the first byte of a client to the joined pair: hellos in any split, dials, refusals. */
import { expect, test } from 'bun:test';
import { readAlert } from '../../../wire/alert.ts';
import { hello } from '../../../wire/hello/hello-builder.ts';
import { HELLO, Lab, NAME } from '../lab.ts';
import { until } from '../../../net/testing/peer.ts';
import { silentPort } from '../../../net/testing/silent-port.ts';
import type { Row } from '../table.ts';

const MEGABYTE = 1 << 20;

/** A port without a listener. The kernel never assigns it. */
const CLOSED_PORT = 1;

/** Returns the row of the lab's name, with these endpoints in order. */
function rowAt(...ports: number[]): Row[] {
  return [{ name: NAME, endpoints: ports.map((port) => ['127.0.0.1', port] as const) }];
}

/** Registers the tests for one engine. */
export function openingSuite(engine: string): void {
  test('routes a hello that arrives one byte at a time', async () => {
    using lab = new Lab(engine);
    const client = await lab.dial();

    for (let at = 0; at < HELLO.length; at++) {
      await client.send(HELLO.subarray(at, at + 1));
      if (at % 16 === 0) await Bun.sleep(0); // lets the engine read, so that there are many pieces
    }

    const upstream = await lab.backend.next();
    await until(() => upstream.received === HELLO.length, 'the hello');
    expect(upstream.bytes().equals(HELLO)).toBe(true);
  });

  test('forwards a FIN that directly follows the hello', async () => {
    using lab = new Lab(engine);
    const client = await lab.dial();

    await client.send(HELLO);
    client.fin();

    const upstream = await lab.backend.next();
    await until(() => upstream.sawFin, 'the FIN');
    expect(upstream.received).toBe(HELLO.length);
    await upstream.send(Buffer.from('answer'));
    upstream.fin();
    await until(() => client.sawFin, 'the answer');
    expect(client.bytes().toString()).toBe('answer');
    expect((await lab.lastClosed()).reason).toBe('completed');
  });

  test('forwards a megabyte sent in one write with the hello, then the FIN', async () => {
    using lab = new Lab(engine);
    const client = await lab.dial();
    const bytes = Buffer.concat([HELLO, Buffer.alloc(MEGABYTE, 9)]);

    await client.send(bytes);
    client.fin();

    const upstream = await lab.backend.next();
    await until(() => upstream.sawFin, 'the FIN');
    expect(upstream.received).toBe(bytes.length);
    expect(upstream.hash.digest('hex')).toBe(Bun.SHA256.hash(bytes, 'hex'));
    expect(lab.counts().bytesUp).toBe(bytes.length);
  });

  test('sends the preface first, drops the requested bytes, and counts neither of them', async () => {
    using lab = new Lab(engine, {
      rows: (port) => [
        { name: NAME, endpoints: [['127.0.0.1', port]], preface: 'header:', dropsHello: true },
      ],
    });
    const client = await lab.dial();

    await client.send(Buffer.concat([HELLO, Buffer.from('rest')]));

    const upstream = await lab.backend.next();
    await until(() => upstream.received === 11, 'header and rest');
    expect(upstream.bytes().toString()).toBe('header:rest');
    expect(lab.counts().bytesUp).toBe(4);
    await client.send(Buffer.from('and more'));
    await until(() => upstream.received === 19, 'more');
    expect(lab.counts().bytesUp).toBe(12);
  });

  test('sends the hello to the next endpoint after a failed dial', async () => {
    using lab = new Lab(engine, {
      rows: (port) => [
        {
          name: NAME,
          endpoints: [
            ['127.0.0.1', CLOSED_PORT],
            ['127.0.0.1', port],
          ],
          preface: 'header:',
        },
      ],
    });
    const client = await lab.dial();

    await client.send(HELLO);

    const upstream = await lab.backend.next();
    await until(() => upstream.received === 7 + HELLO.length, 'header and hello');
    expect(lab.counts()).toMatchObject({ open: 1, total: 1, dials: 2 });
    expect(lab.counts().failures).toEqual({ dial_refused: 1 });
  });

  test('answers with an alert when no endpoint is left, even with unread bytes', async () => {
    using lab = new Lab(engine, {
      rows: () => rowAt(CLOSED_PORT),
    });
    const client = await lab.dial();

    const sending = client.send(Buffer.concat([HELLO, Buffer.alloc(MEGABYTE)]));

    await until(() => client.sawFin, 'the end');
    expect(readAlert(client.bytes())?.name).toBe('internal_error');
    expect(client.wasReset).toBe(false);
    expect(lab.counts().failures).toEqual({ dial_refused: 1, no_endpoint: 1 });
    await sending;
    client.close();
    expect(await lab.lastClosed()).toMatchObject({
      reason: 'no_endpoint',
      attempts: 1,
      bytesUp: 0,
    });
    expect(lab.counts().open).toBe(0);
  });

  test('answers an unknown name with an alert, and counts it for no slot', async () => {
    using lab = new Lab(engine);
    const client = await lab.dial();

    await client.send(hello({ serverName: 'unknown.test' }));

    await until(() => client.sawFin, 'the end');
    expect(readAlert(client.bytes())?.name).toBe('unrecognized_name');
    expect(lab.counters.failures()).toEqual({ name_unknown: 1 });
    expect(lab.counts().total).toBe(0);
    client.close();
    expect(await lab.lastClosed()).toMatchObject({ reason: 'name_unknown', slot: -1, attempts: 0 });
  });

  test('closes a refused client that does not close in time', async () => {
    using lab = new Lab(engine, { limits: { lingerMs: 2000 } });
    const client = await lab.dial();
    await client.send(hello({ serverName: 'unknown.test' }));
    await until(() => client.sawFin, 'the alert');

    lab.clock.advance(3000);

    expect((await lab.lastClosed()).reason).toBe('name_unknown');
  });

  test('resets a client whose first bytes are not a hello', async () => {
    using lab = new Lab(engine);
    const client = await lab.dial();

    await client.send(Buffer.from('GET / HTTP/1.1\r\n\r\n'));

    await until(() => client.closed, 'the end');
    expect(client.wasReset).toBe(true);
    expect(lab.counters.failures()).toEqual({ not_a_hello: 1 });
  });

  test('closes a connection whose client sends a FIN within its hello', async () => {
    using lab = new Lab(engine);
    const client = await lab.dial();

    await client.send(HELLO.subarray(0, 40));
    client.fin();

    expect((await lab.lastClosed()).reason).toBe('hello_incomplete');
    expect(lab.counters.global('unfinishedHellos')).toBe(0);
  });

  test('resets only the affected connection if the router throws in route()', async () => {
    using lab = new Lab(engine);
    const { client: other, upstream } = await lab.pair();
    const client = await lab.dial();

    await client.send(hello({ serverName: 'bug.test' }));

    await until(() => client.closed, 'the end');
    expect(lab.faults).toHaveLength(1);
    expect(lab.counters.failures()).toEqual({ fault: 1 });
    await other.send(Buffer.from('still here'));
    await until(() => upstream.received === HELLO.length + 10, 'the other connection');
  });

  test('resets only the affected connection if the router throws in failed()', async () => {
    using lab = new Lab(engine, {
      rows: () => rowAt(CLOSED_PORT),
    });
    lab.table.failed = () => {
      throw new Error('a bug in the router');
    };
    const client = await lab.dial();

    await client.send(HELLO);

    await until(() => client.closed, 'the end');
    expect(lab.faults).toHaveLength(1);
    expect(lab.counts()).toMatchObject({ open: 0, failures: { dial_refused: 1, fault: 1 } });
  });

  test('times out an unanswered dial, and tries the next endpoint', async () => {
    using silent = silentPort();
    using lab = new Lab(engine, { rows: (port) => rowAt(silent.port, port) });
    const client = await lab.dial();
    await client.send(HELLO);
    await until(() => lab.counters.global('dialing') === 1, 'a dial under way');
    await client.send(Buffer.from('more'));

    lab.clock.advance(5000);

    const upstream = await lab.backend.next();
    await until(() => upstream.received === HELLO.length + 4, 'all bytes');
    expect(lab.counts().failures).toEqual({ dial_timeout: 1 });
    expect(lab.counters.global('dialing')).toBe(0);
  });

  test('buffers at most a megabyte while a dial is pending', async () => {
    using silent = silentPort();
    using lab = new Lab(engine, { rows: (port) => rowAt(silent.port, port) });
    const client = await lab.dial();
    await client.send(HELLO);
    await until(() => lab.counters.global('dialing') === 1, 'a dial under way');

    let isSent = false;
    const sending = client.send(Buffer.alloc(32 * MEGABYTE)).then(() => (isSent = true));
    await until(() => client.isBlocked, 'a client that cannot send more');
    expect(isSent).toBe(false);
    expect(lab.counters.global('bufferedBytes')).toBeLessThanOrEqual(MEGABYTE);
    lab.clock.advance(5000);
    await sending;

    const upstream = await lab.backend.next();
    await until(() => upstream.received === HELLO.length + 32 * MEGABYTE, 'all bytes');
    expect(lab.counters.global('bufferedBytes')).toBe(0);
  });

  test('ends the pending dial of a client that resets', async () => {
    using silent = silentPort();
    using lab = new Lab(engine, {
      rows: () => rowAt(silent.port),
    });
    const client = await lab.dial();
    await client.send(HELLO);
    await until(() => lab.counters.global('dialing') === 1, 'a dial under way');

    client.reset();

    expect((await lab.lastClosed()).reason).toBe('client_reset');
    expect(lab.counters.global('dialing')).toBe(0);
  });
}
