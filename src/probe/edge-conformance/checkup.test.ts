import { expect, setDefaultTimeout, test } from 'bun:test';
import { dialTcp } from '../dial.ts';
import { neverRespond } from '../testing/responses.ts';
import { findHttpHost, observeHosts } from './checkup.ts';
import { EdgeLab, HOST_A, HOST_B } from './testing/edge-lab.ts';
import { httpSpeaker } from './testing/http-speaker.ts';

setDefaultTimeout(240_000);

test('finds an HTTP host only if its server responds to HTTP', async () => {
  await using lab = await EdgeLab.create();
  const [silentEdge, httpEdge] = [
    await lab.edgeInFrontOf(neverRespond),
    await lab.edgeInFrontOf(httpSpeaker()),
  ];
  const at = (port: number) => ({ address: '127.0.0.1', port, dial: dialTcp });

  expect(await findHttpHost(at(silentEdge.port), [HOST_A], { timeoutMs: 100 })).toBeUndefined();
  expect(await findHttpHost(at(httpEdge.port), [HOST_A], { timeoutMs: 30_000 })).toBe(HOST_A);
});

test('reports only hosts with a route as served', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge();
  const edge = { address: '127.0.0.1', port, dial: dialTcp };
  const limits = { timeoutMs: 30_000 };

  const some = await observeHosts(edge, ['c.k8s.test', HOST_B], [], limits);
  const none = await observeHosts(edge, ['c.k8s.test'], [], limits);

  expect(some.served).toEqual([HOST_B]);
  expect(none.served).toBeUndefined();
});
