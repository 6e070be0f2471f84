import { expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { Peer, until } from '../../net/testing/peer.ts';
import { HOST, Lab } from '../testing/lab.ts';
import { Pod, plainHello } from '../testing/pod.ts';

test('forwards bytes both ways, with the server name of the tenant, and counts them', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });
  await until(() => proxy.notReady() === undefined, 'the first probe');

  using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
  const answer = await pod.echo('list my pods');

  expect(answer).toBe('list my pods');
  expect(api.serverNames).toEqual([HOST, HOST]);
  expect(pod.tls.getPeerCertificate().subject.CN).toBe('leaf');
  const { bytesUp, bytesDown, open, total, failures } = proxy.counters.slot(0);
  const counts = { bytesUp, bytesDown, open, total };
  expect(counts).toEqual({ bytesUp: 12, bytesDown: 12, open: 1, total: 1 });
  expect(failures).toEqual({});
});

test('listens on and dials IPv6', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer({ address: '::1' });
  const listen = [{ address: '::1', port: 0 }];
  const proxy = await lab.proxy({ edgeHost: '::1', edgePort: api.port, listen });

  using pod = await Pod.dial(proxy.ports[0]!, { host: '::1', ca: lab.authority.cert });

  expect(await pod.echo('six')).toBe('six');
});

test('forwards fifty concurrent connections without losing or changing a byte', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });

  const exchanges = Array.from({ length: 50 }, async (_, index) => {
    using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
    const sent = randomBytes(index % 10 === 0 ? 3_000_000 : 1 + index * 97);
    pod.tls.write(sent);
    await until(() => pod.receivedBytes >= sent.length || pod.isClosed, 'the echo');
    return digest(pod.received) === digest(sent);
  });

  expect(await Promise.all(exchanges)).toEqual(Array.from({ length: 50 }, () => true));
  await until(() => proxy.counters.global('open') === 0, 'no connection left');
  expect(proxy.counters.global('bufferedBytes')).toBe(0);
});

test("forwards a pod's close_notify, and the answer that follows it", async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer({
    onConnection: (socket) => {
      let receivedBytes = 0;
      socket.on('data', (chunk: Buffer) => (receivedBytes += chunk.length));
      socket.on('end', () => socket.end(`received ${receivedBytes} bytes`));
    },
  });
  const proxy = await lab.proxy({ edgePort: api.port });

  using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
  pod.tls.end('my last request bytes.');
  await until(() => pod.sawEnd, 'the close_notify of the edge');

  expect(pod.received.toString()).toBe('received 22 bytes');
  await until(() => proxy.counters.global('open') === 0, 'no connection left');
  expect(proxy.counters.failures()).toEqual({});
});

test('forwards the whole answer when the edge closes first', async () => {
  await using lab = await Lab.create();
  const answer = randomBytes(2_000_000);
  const api = await lab.apiServer({ onConnection: (socket) => socket.end(answer) });
  const proxy = await lab.proxy({ edgePort: api.port });

  using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
  await until(() => pod.sawEnd, 'the end');

  expect(digest(pod.received)).toBe(digest(answer));
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'buffers bytes that an edge sends right after its handshake (%s), until the handshake of the pod is complete',
  async (maxVersion) => {
    await using lab = await Lab.create();
    const welcome = Buffer.alloc(50_000, 'welcome ');
    const onConnection = (socket: TLSSocket) => socket.write(welcome);
    const api = await lab.apiServer({ maxVersion, onConnection });
    const proxy = await lab.proxy({ edgePort: api.port });

    for (let round = 0; round < 20; round++) {
      using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
      await until(() => pod.receivedBytes >= welcome.length, 'the welcome');
      expect(pod.received.equals(welcome)).toBe(true);
    }
  },
);

test('resets a pod when the edge closes during the handshake of the pod', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer({ onConnection: (socket) => socket.end('bye') });
  const proxy = await lab.proxy({ edgePort: api.port });

  const client = await Peer.dial(proxy.ports[0]!);
  await client.send(plainHello('kubernetes'));
  await until(() => client.closed, 'the end');

  expect(client.wasReset).toBe(true);
  expect(proxy.counters.failures()).toEqual({ upstream_reset: 1 });
  expect(proxy.counters.global('bufferedBytes')).toBe(0);
  await until(() => api.sockets.every((socket) => socket.destroyed), 'the end at the API server');
});

test('forwards a reset in either direction', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });
  const port = proxy.ports[0]!;

  using first = await Pod.dial(port, { ca: lab.authority.cert });
  await first.echo('hello');
  first.plain.resetAndDestroy();
  await until(() => api.sockets.at(-1)!.destroyed, 'the loss at the API server');

  using second = await Pod.dial(port, { ca: lab.authority.cert });
  await second.echo('hello');
  api.sockets.at(-1)!.resetAndDestroy();
  await until(() => second.isClosed, 'the loss at the pod');

  expect(second.error?.code).toBe('ECONNRESET');
  expect(proxy.counters.failures()).toEqual({ client_reset: 1, upstream_reset: 1 });
});

test('stops reading from the edge when a pod does not read, and buffers about a megabyte', async () => {
  await using lab = await Lab.create();
  const size = 64 * 1024 * 1024;
  let sent = 0;
  const api = await lab.apiServer({
    onConnection: (socket) => {
      const block = Buffer.alloc(64 * 1024, 1);
      sent = 0; // the first connection was that of the probe
      const fill = (): void => {
        while (sent < size) {
          sent += block.length;
          if (!socket.write(block)) {
            socket.once('drain', fill);
            return;
          }
        }
        socket.end();
      };
      fill();
    },
  });
  const proxy = await lab.proxy({ edgePort: api.port });
  await until(() => proxy.notReady() === undefined, 'the first probe');

  using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
  pod.tls.pause();
  let before = -1;
  await until(() => {
    const isStill = sent === before && sent > 0;
    before = sent;
    return isStill && proxy.counters.global('bufferedBytes') > 0;
  }, 'the edge to be blocked');

  expect(sent).toBeLessThan(size);
  expect(proxy.counters.global('bufferedBytes')).toBeLessThan(1_100_000);

  pod.tls.resume();
  await until(() => pod.sawEnd, 'the rest');
  expect(pod.receivedBytes).toBe(size);
});

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
