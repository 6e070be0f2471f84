import { expect, test } from 'bun:test';
import { ManualClock } from '../../engine/clock.ts';
import { Backend, until } from '../../engine/conformance/peer.ts';
import { tenantKey } from '../../wire/tenant-key.ts';
import { HOST, Lab, SECRET } from '../testing/lab.ts';
import { EdgeEndpoints } from './edge-endpoints.ts';
import { EdgeScout, type EdgeScoutOptions } from './edge-scout.ts';

function scout(
  lab: Lab,
  addresses: readonly string[],
  port: number,
  more: Partial<EdgeScoutOptions> = {},
) {
  const endpoints = new EdgeEndpoints(new ManualClock());
  endpoints.replace(addresses, port);
  const options: EdgeScoutOptions = {
    ...{ endpoints, serverName: HOST, timeoutMs: 5000, tenantKey: undefined },
    authorities: () => lab.authority.cert,
    noAddress: () => 'the addresses of edge.test are being looked up',
    ...more,
  };
  return { endpoints, scout: new EdgeScout(options) };
}

test('the edge is up if one of its addresses is', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer({ address: '127.0.0.3' });
  const { scout: edge } = scout(lab, ['127.0.0.1', '127.0.0.2', '127.0.0.3'], api.port);

  expect(await edge.probe()).toEqual({ isUp: true });
});

test('a good probe ends the rest of an address that had not answered', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const { endpoints, scout: edge } = scout(lab, ['127.0.0.1'], api.port);
  endpoints.failed(endpoints.all()[0]!, true);
  expect(endpoints.pick()).toBeUndefined();

  await edge.probe();

  expect(endpoints.pick()?.address).toBe('127.0.0.1');
});

test('a bad probe lays no address to rest: that is for dials to decide', async () => {
  await using lab = await Lab.create();
  const mute = lab.use(new Backend());
  const { endpoints, scout: edge } = scout(lab, ['127.0.0.1'], mute.port, { timeoutMs: 50 });

  expect(await edge.probe()).toMatchObject({ isUp: false, code: 'dial_timeout' });

  expect(endpoints.pick()?.address).toBe('127.0.0.1');
});

test('says what is wrong when there is no address yet', async () => {
  await using lab = await Lab.create();
  const { scout: edge } = scout(lab, [], 443);

  expect(await edge.probe()).toMatchObject({
    ...{ isUp: false, code: 'edge_down' },
    sentence: 'edge_down: the addresses of edge.test are being looked up',
  });
});

test('an edge that resets right after it has accepted is down, and nothing is thrown past the probe', async () => {
  await using lab = await Lab.create();
  const key = tenantKey(HOST, SECRET);
  const rude = lab.use(new Backend('127.0.0.1', (peer) => peer.reset()));
  const { scout: edge } = scout(lab, ['127.0.0.1'], rude.port, { tenantKey: () => key });

  // In a part of the rounds the socket is gone when it is reported as open, and has no address any more.
  for (let round = 0; round < 200; round++) {
    const result = await edge.probe();
    expect(result).toMatchObject({ isUp: false });
    expect(['edge_handshake_failed', 'dial_refused']).toContain(result.isUp ? '' : result.code);
  }
});

test('a bug before the handshake is the result of the probe, and does not wait for the time to be up', async () => {
  await using lab = await Lab.create();
  const mute = lab.use(new Backend());
  const noKey = () => {
    throw new TypeError('this mode has no tenant key');
  };
  const { scout: edge } = scout(lab, ['127.0.0.1'], mute.port, { tenantKey: noKey });

  const result = await edge.probe();

  expect(result).toMatchObject({ isUp: false, code: 'fault' });
  expect(result).toMatchObject({ sentence: expect.stringContaining('no tenant key') as string });
  await until(() => mute.peers.every((peer) => peer.sawFin || peer.closed), 'the end at the edge');
});
