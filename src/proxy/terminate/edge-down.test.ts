import { expect, test } from 'bun:test';
import { silentPort } from '../../net/testing/silent-port.ts';
import { freePort } from '../../net/testing/free-port.ts';
import { Backend, Peer, until } from '../../net/testing/peer.ts';
import { Lab } from '../testing/lab.ts';
import { Pod, plainHello } from '../testing/pod.ts';

test('resets a pod before the handshake while the edge is down, and serves it when the edge is back', async () => {
  await using lab = await Lab.create();
  const port = freePort();
  const proxy = await lab.proxy({ edgePort: port });

  // The clock does not advance, so the result depends on no timeout.
  const refusal = await Pod.refused(proxy.ports[0]!);

  expect(refusal).toEqual({ code: 'ECONNRESET', sawHandshake: false });
  expect(proxy.counters.failures()).toEqual({ dial_refused: 1, edge_down: 1 });

  await lab.apiServer({ port });
  using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
  expect(await pod.echo('back')).toBe('back');
});

test('dials the next address when one refuses, without affecting the pod', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer({ address: '127.0.0.2', port: freePort() });
  const lookup = async () => ['127.0.0.1', '127.0.0.2'];
  const proxy = await lab.proxy({ edgeHost: 'edge.test', edgePort: api.port, lookup });
  await until(() => proxy.notReady() === undefined, 'an edge that is up at one of two addresses');

  for (let round = 0; round < 4; round++) {
    using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
    expect(await pod.echo('hello')).toBe('hello');
  }

  expect(proxy.counters.failures()).toEqual({ dial_refused: 1 });
});

test('waits once for an edge that accepts and never answers, and resets later pods immediately', async () => {
  await using lab = await Lab.create();
  const silent = lab.use(new Backend());
  const proxy = await lab.proxy({ edgePort: silent.port });

  const first = Pod.refused(proxy.ports[0]!);
  await until(() => proxy.counters.global('dialing') === 1, 'the dial');
  lab.clock.advance(6000);
  expect(await first).toEqual({ code: 'ECONNRESET', sawHandshake: false });

  // The clock does not advance any further.
  const second = await Pod.refused(proxy.ports[0]!);

  expect(second).toEqual({ code: 'ECONNRESET', sawHandshake: false });
  expect(proxy.counters.failures()).toEqual({ dial_timeout: 1, edge_down: 2 });
});

test('abandons a dial to an edge that does not accept after the dial timeout', async () => {
  await using lab = await Lab.create();
  const unreachable = lab.use(silentPort());
  const proxy = await lab.proxy({ edgePort: unreachable.port });

  const refused = Pod.refused(proxy.ports[0]!);
  await until(() => proxy.counters.global('dialing') === 1, 'the dial');
  lab.clock.advance(6000);

  expect(await refused).toEqual({ code: 'ECONNRESET', sawHandshake: false });
  expect(proxy.counters.global('abandonedDials')).toBe(1);
});

test.each(['accepts and never answers', 'does not accept'])(
  'cleans up after a pod that resets during the dial of an edge that %s',
  async (kind) => {
    await using lab = await Lab.create();
    const isUnreachable = kind === 'does not accept';
    const silent = lab.use(new Backend());
    const unreachable = lab.use(silentPort());
    const proxy = await lab.proxy({ edgePort: isUnreachable ? unreachable.port : silent.port });

    const client = await Peer.dial(proxy.ports[0]!);
    await client.send(plainHello('kubernetes'));
    await until(() => proxy.counters.global('dialing') === 1, 'the dial');
    if (!isUnreachable)
      await until(() => silent.peers.length === 2, 'the dial at the edge, and the probe');
    client.reset();
    await until(() => proxy.counters.global('open') === 0, 'the end');

    expect(proxy.counters.global('dialing')).toBe(0);
    expect(proxy.counters.global('unfinishedHellos')).toBe(0);
    expect(proxy.counters.global('abandonedDials')).toBe(isUnreachable ? 1 : 0);
    if (!isUnreachable)
      await until(() => silent.peers.some((peer) => peer.sawFin), 'the end at the edge');
  },
);
