import { expect, test } from 'bun:test';
import type { TLSSocket } from 'node:tls';
import { keepaliveMs } from '../../net/testing/keepalive.ts';
import { Backend, Peer, until } from '../../net/testing/peer.ts';
import { Lab } from '../testing/lab.ts';
import { Pod, plainHello } from '../testing/pod.ts';

const HELLO = plainHello('kubernetes');

test('closes without an answer if the bytes are not TLS', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });

  const client = await Peer.dial(proxy.ports[0]!);
  await client.send(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
  await until(() => client.sawFin, 'the FIN');
  client.close();
  await until(() => proxy.counters.global('open') === 0, 'the end');

  expect(client.received).toBe(0);
  expect(proxy.counters.failures()).toEqual({ not_tls: 1 });
});

test('answers a hello over the limit with an alert, and waits for the client to close', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });

  const client = await Peer.dial(proxy.ports[0]!);
  await client.send(
    Buffer.concat([Buffer.from([22, 3, 1, 0x40, 0, 1, 0, 0xff, 0xff]), Buffer.alloc(65_000)]),
  );
  await until(() => client.sawFin, 'the FIN');
  expect(proxy.counters.global('open')).toBe(1);
  lab.clock.advance(3000);
  await until(() => proxy.counters.global('open') === 0, 'the end');

  expect([...client.bytes()]).toEqual([21, 3, 3, 0, 2, 2, 47]);
  expect(proxy.counters.failures()).toEqual({ hello_too_long: 1 });
});

test('closes a silent client and a client with a partial hello after ten seconds', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });

  const silent = await Peer.dial(proxy.ports[0]!);
  const partial = await Peer.dial(proxy.ports[0]!);
  await partial.send(HELLO.subarray(0, 100));
  await until(() => proxy.counters.global('unfinishedHellos') === 2, 'both');
  lab.clock.advance(9000);
  expect(proxy.counters.global('open')).toBe(2);
  lab.clock.advance(2000);
  await until(() => hasEnded(silent) && hasEnded(partial), 'the end of both');

  expect(proxy.counters.failures()).toEqual({ hello_timeout: 2 });
});

test('sends keepalive probes to idle peers on both sides after 55 s', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });
  using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
  await pod.echo('hello');

  lab.clock.advance(1000);

  const timersMs = () => [
    keepaliveMs(({ localPort }) => localPort === proxy.ports[0]),
    keepaliveMs(({ remotePort }) => remotePort === api.port),
  ];
  // While a byte is not acknowledged, the kernel shows its retransmission timer instead.
  await until(() => timersMs().every((timerMs) => timerMs !== undefined), 'both timers');
  for (const timerMs of timersMs()) {
    // The remaining time: the machine may pause for a while.
    expect(timerMs).toBeGreaterThan(30_000);
    expect(timerMs).toBeLessThanOrEqual(55_000);
  }
});

test('resets a client that does not finish its handshake within ten seconds, and closes its edge connection', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });

  const client = await Peer.dial(proxy.ports[0]!);
  await client.send(HELLO);
  await until(() => client.received > 0, 'the answer to the hello');
  lab.clock.advance(11_000);
  await until(() => client.closed, 'the end');

  expect(client.wasReset).toBe(true);
  expect(proxy.counters.failures()).toEqual({ client_handshake_timeout: 1 });
  await until(() => api.sockets.every((socket) => socket.destroyed), 'the end at the API server');
});

test('resets a connection above the limit of unfinished handshakes', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port, limits: { maxUnfinishedHellos: 3 } });

  const stuck = await Promise.all([1, 2, 3].map(async () => Peer.dial(proxy.ports[0]!)));
  await stuck[0]!.send(HELLO);
  await until(() => stuck[0]!.received > 0, 'the answer to the hello');
  const fourth = await Peer.dial(proxy.ports[0]!);
  await until(() => fourth.closed, 'the end of the fourth');

  expect(fourth.wasReset).toBe(true);
  expect(proxy.counters.failures()).toEqual({ hellos_limit: 1 });
  for (const peer of stuck) peer.close();
});

test('resets a connection above the connection limit', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port, limits: { maxConnections: 2 } });
  const options = { ca: lab.authority.cert };

  using first = await Pod.dial(proxy.ports[0]!, options);
  using second = await Pod.dial(proxy.ports[0]!, options);
  const third = await Pod.refused(proxy.ports[0]!, options);

  expect(third.sawHandshake).toBe(false);
  expect(await first.echo('one')).toBe('one');
  expect(await second.echo('two')).toBe('two');
  expect(proxy.counters.failures()).toEqual({ connections_limit: 1 });
});

test('closes the edge connection of a pod that does not trust the certificate', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });

  const refusal = await Pod.refused(proxy.ports[0]!, { ca: [] });
  await until(() => proxy.counters.global('open') === 0, 'the end');

  expect(refusal.sawHandshake).toBe(true);
  expect(api.received).toBe(0);
  await until(() => api.sockets.every((socket) => socket.destroyed), 'the end at the API server');
});

test('cleans up after clients that close or reset at any point of the handshake', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });
  const port = proxy.ports[0]!;

  await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const client = await Peer.dial(port);
      if (index % 3 > 0) await client.send(index % 3 === 1 ? HELLO : HELLO.subarray(0, 50));
      if (index % 2 === 0) client.reset();
      else client.close();
    }),
  );
  await until(() => proxy.counters.global('open') === 0, 'no connection left');

  const gauges = ['dialing', 'unfinishedHellos', 'bufferedBytes', 'abandonedDials'] as const;
  expect(gauges.map((name) => proxy.counters.global(name))).toEqual([0, 0, 0, 0]);
  expect(proxy.counters.slot(0).open).toBe(0);
  using pod = await Pod.dial(port, { ca: lab.authority.cert });
  expect(await pod.echo('fine')).toBe('fine');
});

test('resets stalled readers above the buffer limit, and keeps serving other pods', async () => {
  await using lab = await Lab.create();
  const flood = Buffer.alloc(16 * 1024 * 1024);
  const onConnection = (socket: TLSSocket) =>
    socket.on('data', (chunk: Buffer) =>
      socket.write(chunk.toString() === 'flood' ? flood : chunk),
    );
  const api = await lab.apiServer({ onConnection });
  const limits = { maxBufferedBytes: 1_000_000 };
  const proxy = await lab.proxy({ edgePort: api.port, mode: lab.terminate(), limits });
  const options = { ca: lab.authority.cert };
  const buffered = () => proxy.counters.global('bufferedBytes');
  const resets = () => proxy.counters.failures()['buffered_bytes_limit'] ?? 0;
  using active = await Pod.dial(proxy.ports[0]!, options);
  expect(await active.echo('before')).toBe('before');

  const stalled: Pod[] = [];
  while (resets() === 0 && stalled.length < 100) {
    const pod = await Pod.dial(proxy.ports[0]!, options);
    stalled.push(pod);
    pod.tls.pause();
    const bufferedBefore = buffered();
    pod.tls.write('flood');
    await until(() => buffered() > bufferedBefore || resets() > 0, 'buffered bytes for the pod');
    expect(buffered()).toBeLessThanOrEqual(limits.maxBufferedBytes);
  }

  // More than one is reset if bytes for several of them arrive at once.
  expect(Object.keys(proxy.counters.failures())).toEqual(['buffered_bytes_limit']);
  expect(await active.echo('after')).toBe('after');
  for (const pod of stalled) pod[Symbol.dispose]();
  await until(() => buffered() === 0, 'nothing buffered');
});

test('counts bytes that a pod sends during the dial as buffered, up to the limit', async () => {
  await using lab = await Lab.create();
  const mute = lab.use(new Backend());
  const proxy = await lab.proxy({
    edgePort: mute.port,
    mode: lab.terminate(),
    limits: { maxBufferedBytes: HELLO.length + 100 },
  });

  const client = await Peer.dial(proxy.ports[0]!);
  await client.send(HELLO);
  await until(() => proxy.counters.global('dialing') === 1, 'the dial');
  expect(proxy.counters.global('bufferedBytes')).toBe(HELLO.length);
  await client.send(Buffer.alloc(101));
  await until(() => client.closed, 'the end');

  expect(client.wasReset).toBe(true);
  expect(proxy.counters.failures()).toEqual({ buffered_bytes_limit: 1 });
  const gauges = ['open', 'dialing', 'unfinishedHellos', 'bufferedBytes'] as const;
  expect(gauges.map((name) => proxy.counters.global(name))).toEqual([0, 0, 0, 0]);
});

/** Reports whether the peer was closed: by a FIN, or by a reset if it had sent bytes that were not read. */
function hasEnded(peer: Peer): boolean {
  return peer.sawFin || peer.closed;
}
