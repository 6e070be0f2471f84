/** Tests for the process around an engine: memory with stalled readers, and behavior without file descriptors. */
import { expect, test } from 'bun:test';
import { EngineProcess } from '../child.ts';
import { HELLO, NAME } from '../lab.ts';
import { Backend, Peer, until } from '../../../net/testing/peer.ts';

const MEGABYTE = 1 << 20;

/** Registers the tests for one engine. */
export function processSuite(engine: string): void {
  test('grows by less than a megabyte for each stalled reader', async () => {
    // Enough readers that the 20 MB of code and garbage of the process matter little. Each fills 10 MB in the kernel.
    const stalled = 80;
    const bulk = Buffer.alloc(16 * MEGABYTE);
    using backend = new Backend('127.0.0.1', (peer) => void peer.send(bulk));
    const rows = [{ name: NAME, endpoints: [['127.0.0.1', backend.port] as const] }];
    // With the default limit, Bun's sockets could not buffer all of this, and one connection would be reset.
    const limits = { maxBufferedBytes: stalled * MEGABYTE };
    await using child = await EngineProcess.start(engine, rows, { limits });
    const before = await child.report('resources');

    const clients: Peer[] = [];
    for (let count = 0; count < stalled; count++) {
      const client = await Peer.dial(before.port);
      client.pause();
      await client.send(HELLO);
      clients.push(client);
    }
    let previous = -1;
    const after = await child.until(
      ({ open, bufferedBytes }) => {
        const isSteady = open === stalled && bufferedBytes > 0 && bufferedBytes === previous;
        previous = bufferedBytes;
        return isSteady;
      },
      'all readers stalled',
      'resources',
    );

    expect(after.bufferedBytes).toBeLessThan(stalled * MEGABYTE);
    expect(after.rssBytes - before.rssBytes).toBeLessThan(stalled * MEGABYTE);
    for (const client of clients) client.reset();
    await child.until(({ open, bufferedBytes }) => open === 0 && bufferedBytes === 0, 'all closed');
    await child.until(
      ({ descriptors }) => descriptors === before.descriptors,
      'as many descriptors as before',
      'resources',
    );
  });

  test('distinguishes a dial without a free descriptor from a refused dial', async () => {
    const maxFiles = 128;
    using backend = new Backend();
    const rows = [{ name: NAME, endpoints: [['127.0.0.1', backend.port] as const] }];
    const limits = { maxDescriptors: 1_000_000 }; // admits more clients than it can serve
    await using child = await EngineProcess.start(engine, rows, { maxFiles, limits });
    const { port, descriptors } = await child.report('resources');
    const clients: Peer[] = [];
    while (clients.length < maxFiles - descriptors - 8) clients.push(await Peer.dial(port));
    await child.until(({ open }) => open === clients.length, 'all clients accepted');

    for (const client of clients) await client.send(HELLO);

    const { failures } = await child.until(
      ({ failures: { dial_no_resources: count = 0 } }) => count > 0,
      'a dial without a descriptor',
    );
    expect(failures['dial_refused']).toBeUndefined();
    for (const client of clients) client.reset();
    await child.until(({ open }) => open === 0, 'all closed');
  });

  test('idles when file descriptors run out, and continues when some are free', async () => {
    const maxFiles = 128;
    const dialed = 200;
    using backend = new Backend();
    const rows = [{ name: NAME, endpoints: [['127.0.0.1', backend.port] as const] }];
    await using child = await EngineProcess.start(engine, rows, { maxFiles });
    const { port } = await child.report();

    // Each pair takes two descriptors, and the engine has fewer than that.
    const clients: Peer[] = [];
    for (let count = 0; count < dialed; count++) {
      const client = await Peer.dial(port);
      await client.send(HELLO);
      clients.push(client);
    }
    let previous = -1;
    const full = await child.until(({ open }) => {
      const isSteady = open > 0 && open === previous;
      previous = open;
      return isSteady;
    }, 'a constant number of connections');

    expect(full.open).toBeGreaterThan(10);
    expect(full.open).toBeLessThan(maxFiles / 2);
    await child.untilIdle(0.4);

    for (const client of clients) client.reset();
    await child.until(({ open }) => open === 0, 'all closed');
    const peersBefore = backend.peers.length;
    const client = await Peer.dial(port);
    await client.send(HELLO);
    await until(() => backend.peers[peersBefore]?.received === HELLO.length, 'a new connection');
  });
}
