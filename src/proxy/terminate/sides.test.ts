import { expect, test } from 'bun:test';
import { Peer, until } from '../../net/testing/peer.ts';
import { EdgeSide, PodSide } from './sides.ts';

/** A real socket and its peer. */
async function connectedSockets() {
  const { promise, resolve } = Promise.withResolvers<Bun.Socket<unknown>>();
  const listener = Bun.listen<unknown>({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: resolve, data: () => {} },
  });
  const peer = await Peer.dial(listener.port);
  return { socket: await promise, peer, [Symbol.dispose]: () => listener.stop(true) };
}

test('PodSide accepts bytes of the edge only after the handshake', async () => {
  using sockets = await connectedSockets();
  const pod = new PodSide(sockets.socket, 0, 0);

  for (const phase of ['hello', 'dialing', 'handshake', 'over'] as const) {
    pod.phase = phase;
    expect(pod.write(Buffer.from('secret'))).toBe(0);
  }
  pod.phase = 'joined';
  expect(pod.write(Buffer.from('answer'))).toBe(6);
  await until(() => sockets.peer.received > 0, 'the answer');

  expect(sockets.peer.bytes().toString()).toBe('answer');
});

test('EdgeSide accepts bytes of the pod only after verification', async () => {
  using sockets = await connectedSockets();
  const edge = new EdgeSide(new PodSide(sockets.socket, 0, 0));
  edge.socket = sockets.socket;

  expect(edge.write(Buffer.from('token'))).toBe(0);
  edge.verified = true;
  expect(edge.write(Buffer.from('request'))).toBe(7);
  await until(() => sockets.peer.received > 0, 'the request');

  expect(sockets.peer.bytes().toString()).toBe('request');
});
