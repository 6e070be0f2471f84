import { expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { Backend, until } from '../../net/testing/peer.ts';
import { ALERT_RECORDS } from '../../wire/alert.ts';
import { tenantKey } from '../../wire/tenant-key.ts';
import { HOST, Lab, SECRET } from '../testing/lab.ts';
import { EdgeLoadBalancer } from './edge-load-balancer.ts';
import { EdgeProber, type EdgeProberOptions } from './edge-prober.ts';

/** A server that resets every connection and prints its port. */
const RESETTING_SERVER = `
  const open = (socket) => socket.terminate();
  const socket = { open, data() {} };
  console.log(Bun.listen({ hostname: '127.0.0.1', port: 0, socket }).port);
`;

function prober(
  lab: Lab,
  addresses: readonly string[],
  port: number,
  overrides: Partial<EdgeProberOptions> = {},
) {
  const loadBalancer = new EdgeLoadBalancer(new ManualClock());
  loadBalancer.replace(addresses.map((address) => ({ address, port })));
  const options: EdgeProberOptions = {
    loadBalancer,
    serverName: HOST,
    timeoutMs: 60_000,
    tenantKey: undefined,
    authorities: () => lab.authority.cert,
    noAddress: () => 'the addresses of edge.test are being resolved',
    ...overrides,
  };
  return { loadBalancer, prober: new EdgeProber(options) };
}

test('reports the edge as up if one of its addresses is up', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer({ address: '127.0.0.3' });
  const { prober: edge } = prober(lab, ['127.0.0.1', '127.0.0.2', '127.0.0.3'], api.port);

  expect(await edge.probe()).toEqual({ isUp: true });
});

test('a successful probe ends the back-off of an address that had timed out', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const { loadBalancer, prober: edge } = prober(lab, ['127.0.0.1'], api.port);
  loadBalancer.failed(loadBalancer.all()[0]!, true);
  expect(loadBalancer.pick()).toBeUndefined();

  await edge.probe();

  expect(loadBalancer.pick()?.address).toBe('127.0.0.1');
});

test('a failed probe starts no back-off', async () => {
  await using lab = await Lab.create();
  const silent = lab.use(new Backend());
  const { loadBalancer, prober: edge } = prober(lab, ['127.0.0.1'], silent.port, { timeoutMs: 50 });

  expect(await edge.probe()).toMatchObject({ isUp: false, code: 'dial_timeout' });

  expect(loadBalancer.pick()?.address).toBe('127.0.0.1');
});

test('returns the reason if there is no address yet', async () => {
  await using lab = await Lab.create();
  const { prober: edge } = prober(lab, [], 443);

  expect(await edge.probe()).toMatchObject({
    isUp: false,
    code: 'edge_down',
    message: 'edge_down: the addresses of edge.test are being resolved',
  });
});

test('reports an edge that resets right after the accept as down, and does not throw', async () => {
  await using lab = await Lab.create();
  const key = tenantKey(HOST, SECRET);
  const resetting = lab.use(new Backend('127.0.0.1', (peer) => peer.reset()));
  const { prober: edge } = prober(lab, ['127.0.0.1'], resetting.port, { tenantKey: () => key });

  // In some rounds, the socket is already closed when Bun reports it as open, and then has no address.
  for (let round = 0; round < 200; round++) {
    const result = await edge.probe();
    expect(result.isUp ? '' : result.code).toBe('edge_handshake_failed');
  }
});

test('reports a reset right after the accept as a failed handshake, not as a refused dial', async () => {
  await using lab = await Lab.create();
  const resetting = Bun.spawn([process.execPath, '-e', RESETTING_SERVER], { stdout: 'pipe' });
  using _ = { [Symbol.dispose]: () => resetting.kill() };
  const { value } = await resetting.stdout.getReader().read();
  const port = Number(Buffer.from(value ?? []).toString());
  const { prober: edge } = prober(lab, ['127.0.0.1'], port);

  for (let round = 0; round < 20; round++) {
    const probe = edge.probe();
    const endMs = performance.now() + 10;
    while (performance.now() < endMs); // the other process resets while this one does not run its event loop
    expect(await probe).toMatchObject({ isUp: false, code: 'edge_handshake_failed' });
  }
});

test.each([
  ['handshake_failure', 'the gateway rejected the signed header'],
  ['internal_error', 'the gateway has no working endpoint for this tenant'],
  ['unrecognized_name', 'the edge did not complete the TLS handshake'],
] as const)('explains the alert %s of the gateway', async (name, message) => {
  await using lab = await Lab.create();
  const key = tenantKey(HOST, SECRET);
  const gateway = lab.use(
    new Backend('127.0.0.1', (peer) => {
      peer.onData = () => void peer.send(ALERT_RECORDS[name]);
    }),
  );
  const options = { isUp: false, code: 'edge_handshake_failed' };
  const signed = prober(lab, ['127.0.0.1'], gateway.port, { tenantKey: () => key });
  const plain = prober(lab, ['127.0.0.1'], gateway.port);

  expect(await signed.prober.probe()).toMatchObject({
    ...options,
    message: expect.stringContaining(message) as string,
  });
  expect(await plain.prober.probe()).toMatchObject({
    ...options,
    message: expect.stringContaining('the edge did not complete') as string,
  });
});

test('returns an exception before the handshake immediately as the result', async () => {
  await using lab = await Lab.create();
  const silent = lab.use(new Backend());
  const noKey = () => {
    throw new TypeError('this mode has no tenant key');
  };
  const { prober: edge } = prober(lab, ['127.0.0.1'], silent.port, { tenantKey: noKey });

  const result = await edge.probe();

  expect(result).toMatchObject({ isUp: false, code: 'fault' });
  expect(result).toMatchObject({ message: expect.stringContaining('no tenant key') as string });
  await until(
    () => silent.peers.every((peer) => peer.sawFin || peer.closed),
    'the end at the edge',
  );
});
