import { expect, test } from 'bun:test';
import { ManualClock } from '../../engine/clock.ts';
import { Backend } from '../../engine/conformance/peer.ts';
import { HOST, Lab } from '../testing/lab.ts';
import { EdgeEndpoints } from './edge-endpoints.ts';
import { EdgeScout } from './edge-scout.ts';

function scout(lab: Lab, addresses: readonly string[], port: number, timeoutMs = 5000) {
  const endpoints = new EdgeEndpoints(new ManualClock());
  endpoints.replace(addresses, port);
  const options = {
    ...{ endpoints, serverName: HOST, timeoutMs, tenantKey: undefined },
    authorities: () => lab.authority.cert,
    noAddress: () => 'the addresses of edge.test are being looked up',
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
  const { endpoints, scout: edge } = scout(lab, ['127.0.0.1'], mute.port, 50);

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
