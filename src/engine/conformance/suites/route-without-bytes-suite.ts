/**
 * Tests for a router that needs no bytes from the client to decide, such as that of a proxy in mode passthrough. The
 * engine still waits until the client sends something.
 */
import { expect, test } from 'bun:test';
import { formatAddress } from '../../../wire/address-pair.ts';
import { Counters } from '../../counters.ts';
import { Endpoint } from '../../endpoint.ts';
import type { ClientConnection, Dial, Engine, Router } from '../../engine.ts';
import type { Decision } from '../../decision.ts';
import { makeEngine } from '../engines.ts';
import { Backend, Peer, until } from '../../../net/testing/peer.ts';

const MEGABYTE = 1 << 20;

/** Routes every client to one backend. The preface is a line with the address that the client has dialed. */
class FixedRouter implements Router {
  readonly routesWithoutBytes = true;
  readonly #endpoint: Endpoint;

  constructor(port: number) {
    this.#endpoint = new Endpoint('127.0.0.1', port);
  }

  route(_bytes: Buffer, _length: number, _connection: ClientConnection, decision: Decision): void {
    decision.dial(this.#endpoint, 0, 0, true);
  }

  failed(_dial: Dial, _connection: ClientConnection, decision: Decision): void {
    decision.reset(0);
  }

  preface(_dial: Dial, { addresses }: ClientConnection, buffer: Buffer): number {
    const { destination, destinationPort, family } = addresses;
    return buffer.write(`${formatAddress(destination, 0, family)} ${destinationPort}\n`);
  }
}

/** An engine with a {@link FixedRouter}. */
class FixedRouterLab implements Disposable {
  readonly backend = new Backend();
  readonly counters = new Counters({ slots: 1, slotReasons: [], otherReasons: [] });
  readonly engine: Engine;
  readonly port: number;

  constructor(engine: string, address: string) {
    this.engine = makeEngine(engine, {
      router: new FixedRouter(this.backend.port),
      counters: this.counters,
      limits: {},
      onFault(error) {
        throw error;
      },
    });
    this.port = this.engine.listen({ address, port: 0 });
  }

  [Symbol.dispose](): void {
    this.engine.stop();
    this.backend[Symbol.dispose]();
  }
}

/** Registers the tests for one engine. */
export function routeWithoutBytesSuite(engine: string): void {
  test.each([
    ['127.0.0.3', '127.0.0.3'],
    ['0.0.0.0', '127.0.0.2'],
    ['::', '::1'],
    ['::1', '::1'],
  ])(
    'listening on %s, writes the dialed address %s into the preface and forwards all bytes',
    async (address, dialed) => {
      using lab = new FixedRouterLab(engine, address);
      const client = await Peer.dial(lab.port, dialed);
      const bytes = Buffer.alloc(MEGABYTE, 'no hello ');

      await client.send(bytes);
      client.fin();

      const upstream = await lab.backend.next();
      await until(() => upstream.sawFin, 'the FIN');
      const header = `${dialed} ${lab.port}\n`;
      expect(upstream.received).toBe(header.length + bytes.length);
      const whole = Buffer.concat([Buffer.from(header), bytes]);
      expect(upstream.hash.digest('hex')).toBe(Bun.SHA256.hash(whole, 'hex'));
      expect(lab.counters.slot(0).bytesUp).toBe(bytes.length);
    },
  );

  test('dials after a single byte', async () => {
    using lab = new FixedRouterLab(engine, '127.0.0.1');
    const client = await Peer.dial(lab.port);

    await client.send(Buffer.from('x'));

    const upstream = await lab.backend.next();
    await until(() => upstream.bytes().toString().endsWith('\nx'), 'the byte');
    await client.send(Buffer.from('yz'));
    await until(() => upstream.bytes().toString().endsWith('\nxyz'), 'the other two bytes');
  });

  test('does not dial for a client that sends a FIN and no bytes', async () => {
    using lab = new FixedRouterLab(engine, '127.0.0.1');
    const client = await Peer.dial(lab.port);

    client.fin();

    await until(() => client.sawFin, 'the end');
    expect(lab.counters.global('dialing')).toBe(0);
    expect(lab.counters.slot(0).dials).toBe(0);
    expect(lab.counters.failures()).toEqual({ hello_incomplete: 1 });
  });
}
