import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect as connectHttp2, createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Peer, until } from '../../net/testing/peer.ts';
import { hello } from '../../wire/hello/hello-builder.ts';
import { Lab } from '../testing/lab.ts';
import { Pod, plainHello } from '../testing/pod.ts';

test.each<[string[], string[], string | false]>([
  [['h2', 'http/1.1'], ['h2', 'http/1.1'], 'h2'],
  [['http/1.1'], ['h2', 'http/1.1'], 'http/1.1'],
  [['h2', 'http/1.1'], ['http/1.1'], 'http/1.1'],
  [[], ['h2', 'http/1.1'], false],
  [['h2', 'http/1.1'], [], false],
])(
  'a pod that offers %j and an edge that supports %j negotiate %j',
  async (offers, protocols, chosen) => {
    await using lab = await Lab.create();
    const api = await lab.apiServer({ protocols });
    const proxy = await lab.proxy({ edgePort: api.port });
    await until(() => proxy.notReady() === undefined, 'the first probe');

    const alpn = offers.length === 0 ? {} : { ALPNProtocols: offers };
    using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert, ...alpn });
    await pod.echo('x');

    expect(pod.tls.alpnProtocol).toBe(chosen);
    expect(api.protocols.at(-1)).toBe(chosen);
  },
);

test('refuses a pod whose protocols the edge does not support', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer({ protocols: ['h2'] });
  const proxy = await lab.proxy({ edgePort: api.port });

  const refusal = await Pod.refused(proxy.ports[0]!, { ALPNProtocols: ['spdy/9'] });

  expect(refusal.code).toBe('ECONNRESET');
  expect(proxy.counters.failures()).toEqual({ edge_handshake_failed: 1, edge_down: 1 });
});

test('forwards HTTP/2', async () => {
  await using lab = await Lab.create();
  const server = createSecureServer({ ...lab.serving }, (request, response) =>
    response.end(`${request.method} ${request.url} over HTTP/${request.httpVersion}`),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await lab.proxy({ edgePort: (server.address() as AddressInfo).port });

  const client = connectHttp2(`https://127.0.0.1:${proxy.ports[0]}`, { ca: lab.authority.cert });
  const bodies = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const stream = client.request({ ':path': `/pods/${index}` });
      stream.setEncoding('utf8');
      let body = '';
      for await (const chunk of stream) body += String(chunk);
      return body;
    }),
  );
  client.destroy();
  server.close();

  expect(bodies).toEqual(bodies.map((_, index) => `GET /pods/${index} over HTTP/2.0`));
});

test('negotiates TLS 1.2 with a pod that does not support TLS 1.3', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });

  const options = { ca: lab.authority.cert, maxVersion: 'TLSv1.2' as const };
  using pod = await Pod.dial(proxy.ports[0]!, options);

  expect(pod.tls.getProtocol()).toBe('TLSv1.2');
  expect(await pod.echo('old')).toBe('old');
});

test('refuses TLS 1.1 with an alert', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });

  const client = await Peer.dial(proxy.ports[0]!);
  await client.send(hello({ serverName: 'kubernetes', versions: [0x0302] }));
  await until(() => client.closed || client.sawFin, 'the end');

  expect([...client.bytes().subarray(0, 7)]).toEqual([21, 3, expect.any(Number), 0, 2, 2, 70]);
  expect(proxy.counters.failures()).toEqual({ client_handshake_failed: 1 });
});

test('serves a pod that sends an IP address as server name', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });

  const client = await Peer.dial(proxy.ports[0]!);
  await client.send(plainHello('10.96.0.1'));
  await until(() => client.received > 0, 'an answer');

  const isServerHello = client.bytes()[0] === 22;
  const isAlert = client.bytes()[0] === 21;
  expect({ isServerHello, isAlert, failures: proxy.counters.failures() }).toEqual({
    isServerHello: true,
    isAlert: false,
    failures: {},
  });
  client.close();
});

test('reads a hello that arrives one byte at a time', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });

  using pod = await Pod.dial(await trickle(proxy.ports[0]!, lab), { ca: lab.authority.cert });

  expect(await pod.echo('patience')).toBe('patience');
});

/** Starts a relay that forwards the first 300 bytes one at a time, and returns its port. */
async function trickle(port: number, lab: Lab): Promise<number> {
  const { createServer, connect } = await import('node:net');
  const server = createServer((socket) => {
    const upstream = connect(port, '127.0.0.1');
    upstream.setNoDelay(true);
    let remaining = 300;
    let order = Promise.resolve();
    socket.on('data', (chunk: Buffer) => {
      order = order.then(async () => {
        const slow = chunk.subarray(0, remaining);
        remaining -= slow.length;
        for (const byte of slow) {
          upstream.write(Buffer.of(byte));
          await new Promise(setImmediate);
        }
        upstream.write(chunk.subarray(slow.length));
      });
    });
    upstream.pipe(socket);
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
    socket.on('close', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  lab.use({ [Symbol.dispose]: () => void server.close() });
  return (server.address() as AddressInfo).port;
}
