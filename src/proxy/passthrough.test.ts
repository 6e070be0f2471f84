import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { connect as connectHttp2, createSecureServer } from 'node:http2';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ManualClock } from '../clock/manual-clock.ts';
import { freePort } from '../net/testing/free-port.ts';
import { Backend, Peer, until } from '../net/testing/peer.ts';
import { PREFACE_LIMIT_BYTES } from '../engine/engine.ts';
import { ENGINE_CHOICES } from '../engine/open-engine.ts';
import { ProxyHeader } from '../wire/proxy-header.ts';
import { ReplayGuard } from '../wire/replay-guard.ts';
import { verifyTenantHeader } from '../wire/tenant-header.ts';
import { tenantKey } from '../wire/tenant-key.ts';
import { REASON } from '../engine/reasons.ts';
import { Decision } from '../engine/decision.ts';
import { EdgeLoadBalancer } from './edge/edge-load-balancer.ts';
import { Passthrough } from './passthrough.ts';
import { TestGateway } from './testing/gateway.ts';
import { HOST, Lab, SECRET, type LabProxyOptions } from './testing/lab.ts';
import { Pod } from './testing/pod.ts';
import type { RunningProxy } from './proxy.ts';
import { addressPair } from '../wire/address-pair.ts';

const KEY = tenantKey(HOST, SECRET);
/** More than the kernel buffers for a pod that does not read. */
const FLOOD = Buffer.alloc(32 << 20);
const CONNECTION = {
  remoteAddress: 'fd00::17',
  remotePort: 4711,
  addresses: addressPair('fd00::17', 4711, 'fd00::1', 6443),
  note: 0,
};
const engines = ENGINE_CHOICES.filter((name) => name !== 'auto' && isSupported(name));

/** Reports whether an engine works on this platform: epoll requires Linux. */
function isSupported(name: string): boolean {
  return name !== 'epoll' || process.platform === 'linux';
}

async function passthrough(
  lab: Lab,
  options: LabProxyOptions & { engine: 'bun' | 'epoll' | 'auto' },
): Promise<RunningProxy> {
  return lab.proxy({ mode: lab.passthrough(), ...options });
}

for (const engine of engines) {
  test(`${engine}: forwards TLS unchanged, after a header with the pod's real addresses`, async () => {
    await using lab = await Lab.create();
    const api = await lab.apiServer();
    const gateway = lab.use(await TestGateway.start(api.port, [KEY]));
    const proxy = await passthrough(lab, { engine, edgePort: gateway.port });

    using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert, servername: HOST });
    expect(await pod.echo('hello')).toBe('hello');

    expect(gateway.receivedHeaders.at(-1)).toMatchObject({
      outcome: 'valid',
      authority: HOST,
      source: `127.0.0.1:${pod.plain.localPort}`,
      destination: `127.0.0.1:${proxy.ports[0]}`,
    });
    expect(pod.tls.getPeerCertificate().subject.CN).toBe('kube-apiserver');
    expect(proxy.counters.failures()).toEqual({});
  });

  test(`${engine}: the API server receives the pod's client certificate`, async () => {
    await using lab = await Lab.create();
    const api = await lab.apiServer({ clientCa: lab.authority.cert });
    const gateway = lab.use(await TestGateway.start(api.port, [KEY]));
    const proxy = await passthrough(lab, { engine, edgePort: gateway.port });
    const client = await lab.authority.issue({ commonName: 'system:node:worker-1' });

    const options = { ca: lab.authority.cert, servername: HOST, ...client };
    using pod = await Pod.dial(proxy.ports[0]!, options);
    await pod.echo('who am I');

    expect(api.clients).toEqual(['system:node:worker-1']);
  });

  test(`${engine}: limits the bytes buffered for pods that do not read`, async () => {
    await using lab = await Lab.create();
    const flood = lab.use(new Backend('127.0.0.1', (peer) => void peer.send(FLOOD)));
    const limits = { maxBufferedBytes: 1_000_000 };
    const proxy = await passthrough(lab, { engine, edgePort: flood.port, limits });

    let maxBuffered = 0;
    for (let count = 0; count < 6; count++) {
      const pod = await Peer.dial(proxy.ports[0]!);
      pod.pause();
      await pod.send(Buffer.from('hello'));
      const edge = await flood.next();
      await until(() => {
        maxBuffered = Math.max(maxBuffered, proxy.counters.global('bufferedBytes'));
        return edge.isBlocked || edge.closed;
      }, 'a blocked or closed edge');
    }

    expect(maxBuffered).toBeWithin(1, limits.maxBufferedBytes + 1);
  });

  test(`${engine}: forwards HTTP/2`, async () => {
    await using lab = await Lab.create();
    const server = createSecureServer({ ...lab.serving }, (request, response) =>
      response.end(`HTTP/${request.httpVersion}`),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const gateway = lab.use(await TestGateway.start(port, [KEY]));
    const proxy = await passthrough(lab, { engine, edgePort: gateway.port });

    const url = `https://127.0.0.1:${proxy.ports[0]}`;
    const client = connectHttp2(url, { ca: lab.authority.cert, servername: HOST });
    const stream = client.request({ ':path': '/' });
    stream.setEncoding('utf8');
    let body = '';
    for await (const chunk of stream) body += String(chunk);
    client.destroy();
    server.close();

    expect(body).toBe('HTTP/2.0');
  });

  test(`${engine}: resets a pod immediately while the edge is down, and serves it when the edge is back`, async () => {
    await using lab = await Lab.create();
    const api = await lab.apiServer();
    const edgePort = freePort();
    const proxy = await passthrough(lab, { engine, edgePort });

    // The clock does not advance, so the result depends on no timeout.
    const refusal = await Pod.refused(proxy.ports[0]!);

    expect(refusal).toEqual({ code: 'ECONNRESET', sawHandshake: false });
    expect(proxy.counters.failures()).toEqual({ dial_refused: 1, edge_down: 1 });

    lab.use(await TestGateway.start(api.port, [KEY], edgePort));
    using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert, servername: HOST });
    expect(await pod.echo('back')).toBe('back');
  });

  test(`${engine}: dials the next address when one refuses`, async () => {
    await using lab = await Lab.create();
    const api = await lab.apiServer();
    const gateway = lab.use(await TestGateway.start(api.port, [KEY], freePort(), '127.0.0.2'));
    const lookup = async () => ['127.0.0.1', '127.0.0.2'];
    const edge = { edgeHost: 'edge.test', edgePort: gateway.port, lookup };
    const proxy = await passthrough(lab, { engine, ...edge });
    await until(() => proxy.notReady() === undefined, 'readiness');

    for (let round = 0; round < 4; round++) {
      using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert, servername: HOST });
      expect(await pod.echo('hello')).toBe('hello');
    }

    // The clock does not advance, so the address that refused backs off until the end of the test.
    expect(proxy.counters.failures()).toMatchObject({ dial_refused: 1 });
  });

  test(`${engine}: uses a new key as soon as its file has changed`, async () => {
    await using lab = await Lab.create();
    const api = await lab.apiServer();
    const gateway = lab.use(await TestGateway.start(api.port, [KEY]));
    const proxy = await passthrough(lab, { engine, edgePort: gateway.port });
    const options = { ca: lab.authority.cert, servername: HOST };
    using openPod = await Pod.dial(proxy.ports[0]!, options);
    await openPod.echo('before');

    const secret = randomBytes(32);
    lab.write('tenant.key', secret.toString('base64'));
    const reloaded = 'snicket_proxy_reloads_total{file="tenant-key-file",result="success"} 1';
    await until(() => proxy.metrics.text().includes(reloaded), 'the new key');
    gateway.keys = [tenantKey(HOST, secret)];

    using pod = await Pod.dial(proxy.ports[0]!, options);
    expect(await pod.echo('after')).toBe('after');
    expect(await openPod.echo('still here')).toBe('still here');
  });
}

test('resets the pod without a back-off if a dial failed for lack of local resources', () => {
  const loadBalancer = new EdgeLoadBalancer(new ManualClock());
  loadBalancer.replace(['10.0.0.1', '10.0.0.2'].map((address) => ({ address, port: 443 })));
  const suspicions: number[] = [];
  const suspected = (reason: number) => suspicions.push(reason);
  const router = new Passthrough({ loadBalancer, key: () => KEY, edgeDown: 99, suspected });
  const decision = new Decision();
  const endpoint = loadBalancer.pick()!;
  const reason = REASON.dial_no_resources;

  router.failed({ endpoint, slot: 0, attempt: 1, reason, elapsedMs: 0 }, CONNECTION, decision);

  expect(decision).toMatchObject({ kind: 'reset', reason: 99 });
  expect(suspicions).toEqual([]);
  const picks = [loadBalancer.pick()?.address, loadBalancer.pick()?.address];
  expect(picks).toEqual(['10.0.0.2', '10.0.0.1']);
});

test('headers of one pod within the same second are distinct and accepted', () => {
  const loadBalancer = new EdgeLoadBalancer(new ManualClock());
  loadBalancer.replace(['127.0.0.1'].map((address) => ({ address, port: 443 })));
  const nowSeconds = () => 1_800_000_000;
  const options = { loadBalancer, key: () => KEY, edgeDown: 0, suspected: () => {}, nowSeconds };
  const router = new Passthrough(options);
  const guard = new ReplayGuard({ windowSeconds: 60 });
  const header = new ProxyHeader();
  const dial = { endpoint: loadBalancer.all()[0]!, slot: 0, attempt: 1, reason: 0, elapsedMs: 1 };

  // More than one block of nonces, so that a new block is drawn.
  const outcomes = Array.from({ length: 1500 }, () => {
    const buffer = Buffer.alloc(PREFACE_LIMIT_BYTES);
    const length = router.preface(dial, CONNECTION, buffer);
    expect(header.read(buffer, length)).toBe('header');
    return verifyTenantHeader(header, [KEY], nowSeconds(), 60, guard);
  });

  expect(outcomes.filter((outcome) => outcome !== 'valid')).toEqual([]);
});

test('is ready when the gateway accepts the header and the API server completes the handshake', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const gateway = lab.use(await TestGateway.start(api.port, [KEY]));
  const proxy = await passthrough(lab, { engine: 'bun', edgePort: gateway.port });

  await until(() => proxy.notReady() === undefined, 'readiness');

  expect(gateway.receivedHeaders).toMatchObject([{ outcome: 'valid', authority: HOST }]);
  await until(() => api.serverNames.length === 1, 'the end of the handshake at the API server');
  expect(api.serverNames).toEqual([HOST]);
});

test('is not ready if the API server does not complete the handshake, but still forwards pods', async () => {
  await using lab = await Lab.create();
  const silent = lab.use(new Backend());
  const gateway = lab.use(await TestGateway.start(silent.port, [KEY]));
  const limits = { dialTimeoutMs: 500 };
  const proxy = await passthrough(lab, { engine: 'bun', edgePort: gateway.port, limits });
  await until(() => proxy.notReady()?.startsWith('dial_timeout') === true, 'the reason');
  const before = gateway.receivedHeaders.length; // none if the probe timed out before it sent anything

  const client = await Peer.dial(proxy.ports[0]!);
  await client.send(Buffer.from('anything'));
  await until(() => gateway.receivedHeaders.length > before, 'the header of the pod');

  expect(client.closed).toBe(false);
  expect(proxy.counters.failures()).toEqual({});
  client.close();
});

test('is not ready with a key that the gateway rejects, and becomes ready with the right one', async () => {
  await using lab = await Lab.create();
  lab.write('tenant.key', randomBytes(32).toString('base64'));
  const api = await lab.apiServer();
  const gateway = lab.use(await TestGateway.start(api.port, [KEY]));
  const proxy = await passthrough(lab, { engine: 'bun', edgePort: gateway.port });

  await until(() => gateway.receivedHeaders.length === 1, 'the first probe');
  await until(() => proxy.notReady()?.startsWith('edge_handshake_failed') === true, 'the reason');
  expect(gateway.receivedHeaders).toMatchObject([{ outcome: 'tenant_key_unknown' }]);

  lab.write('tenant.key', SECRET.toString('base64'));
  const reloaded = 'snicket_proxy_reloads_total{file="tenant-key-file",result="success"} 1';
  await until(() => proxy.metrics.text().includes(reloaded), 'the right key');
  lab.clock.advance(1500);
  await until(() => proxy.notReady() === undefined, 'readiness');
});
