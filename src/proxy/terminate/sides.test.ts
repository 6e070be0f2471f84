import { expect, test } from 'bun:test';
import { Peer, until } from '../../net/testing/peer.ts';
import { EdgeSide, PodSide } from './sides.ts';

/** A real socket and its peer. */
async function wire() {
  const { promise, resolve } = Promise.withResolvers<Bun.Socket<unknown>>();
  const listener = Bun.listen<unknown>({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: resolve, data: () => {} },
  });
  const far = await Peer.dial(listener.port);
  return { socket: await promise, far, [Symbol.dispose]: () => listener.stop(true) };
}

test('a pod takes nothing of the edge before its handshake is complete, and not in the clear', async () => {
  using ends = await wire();
  const pod = new PodSide(ends.socket, 0, 0);

  for (const phase of ['hello', 'dialing', 'handshake', 'over'] as const) {
    pod.phase = phase;
    expect(pod.write(Buffer.from('secret'))).toBe(0);
  }
  pod.phase = 'joined';
  expect(pod.write(Buffer.from('answer'))).toBe(6);
  await until(() => ends.far.received > 0, 'the answer');

  expect(ends.far.bytes().toString()).toBe('answer');
});

test('an edge takes nothing of the pod before it is verified', async () => {
  using ends = await wire();
  const edge = new EdgeSide(new PodSide(ends.socket, 0, 0));
  edge.socket = ends.socket;

  expect(edge.write(Buffer.from('token'))).toBe(0);
  edge.verified = true;
  expect(edge.write(Buffer.from('request'))).toBe(7);
  await until(() => ends.far.received > 0, 'the request');

  expect(ends.far.bytes().toString()).toBe('request');
});
