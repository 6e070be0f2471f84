import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Peer, until } from '../../net/testing/peer.ts';
import { Counters } from '../../engine/counters.ts';
import { parseServingCertificate } from '../credentials/serving-certificate.ts';
import { EdgeLoadBalancer } from '../edge/edge-load-balancer.ts';
import { HELLO_REFUSAL_CODES, PROXY_REASON_CODES } from '../reasons.ts';
import { HOST, Lab } from '../testing/lab.ts';
import { Pod, plainHello } from '../testing/pod.ts';
import { isBrokenSession } from './broken-session.ts';
import { Terminator, type TerminatorOptions } from './terminator.ts';

/** Starts a terminator directly, without the proxy's checks of its files. */
function startTerminator(lab: Lab, edgePort: number, overrides: Partial<TerminatorOptions>) {
  const loadBalancer = new EdgeLoadBalancer(lab.clock);
  loadBalancer.replace(['127.0.0.1'].map((address) => ({ address, port: edgePort })));
  const counters = new Counters({
    slots: 1,
    slotReasons: PROXY_REASON_CODES,
    otherReasons: HELLO_REFUSAL_CODES,
  });
  const { cert, key } = lab.leaf;
  const paths = { certificate: 'tls.crt', key: 'tls.key' };
  const serving = parseServingCertificate(Buffer.from(cert), Buffer.from(key), paths);
  const faults: unknown[] = [];
  const engine = new Terminator({
    loadBalancer,
    counters,
    serverName: HOST,
    clock: lab.clock,
    certificate: () => serving,
    authorities: () => lab.authority.cert,
    suspected: () => {},
    onFault: (error) => faults.push(error),
    ...overrides,
  });
  lab.use({ [Symbol.dispose]: () => engine.stop() });
  return { counters, faults, port: engine.listen({ address: '127.0.0.1', port: 0 }) };
}

const GAUGES = ['open', 'dialing', 'abandonedDials', 'unfinishedHellos', 'bufferedBytes'] as const;

test('resets only the pod if TLS rejects the authorities', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const authorities = () => '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  const { counters, faults, port } = startTerminator(lab, api.port, { authorities });

  const client = await Peer.dial(port);
  await client.send(plainHello('kubernetes'));
  await until(() => client.closed, 'the end of the pod');
  lab.clock.advance(6000);

  expect(client.wasReset).toBe(true);
  expect(counters.failures()).toEqual({ fault: 1 });
  expect(faults).toMatchObject([{ code: 'ERR_BORINGSSL' }]);
  expect(GAUGES.map((name) => counters.global(name))).toEqual([0, 0, 0, 0, 0]);
});

test('counts an exception with a code in a handler as a fault', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const certificate = () => {
    throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
  };
  const { counters, faults, port } = startTerminator(lab, api.port, { certificate });

  const refusal = await Pod.refused(port);

  expect(refusal).toEqual({ code: 'ECONNRESET', sawHandshake: false });
  expect(counters.failures()).toEqual({ fault: 1 });
  expect(faults).toMatchObject([{ code: 'ENOENT' }]);
  expect(GAUGES.map((name) => counters.global(name))).toEqual([0, 0, 0, 0, 0]);
});

test('does not count a broken TLS session as a fault', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const { counters, faults, port } = startTerminator(lab, api.port, {});
  using pod = await Pod.dial(port, { ca: lab.authority.cert });
  expect(await pod.echo('fine')).toBe('fine');

  pod.plain.write(Buffer.from('not a TLS record, but long enough to be read as an invalid one'));
  await until(() => counters.global('open') === 0, 'the end');

  expect(faults).toEqual([]);
  expect(counters.failures()).toEqual({ client_reset: 1 });
});

test.each([
  ['EPROTO', true],
  ['ERR_SSL_WRONG_VERSION_NUMBER', true],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', true],
  ['ERR_BORINGSSL', false],
  ['ENOENT', false],
  [undefined, false],
])('an error with code %p is a broken session: %p', (code, isBroken) => {
  expect(isBrokenSession(Object.assign(new Error('broken'), { code }))).toBe(isBroken);
});

test('resets a drained connection with undelivered bytes', async () => {
  await using lab = await Lab.create();
  const flood = Buffer.alloc(16 * 1024 * 1024);
  const onConnection = (socket: TLSSocket) => void socket.once('data', () => socket.write(flood));
  const api = await lab.apiServer({ onConnection });
  const proxy = await lab.proxy({ edgePort: api.port });
  using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
  pod.tls.pause();
  pod.tls.write('flood');
  await until(() => proxy.counters.global('bufferedBytes') > 0, 'bytes that wait for the pod');

  await proxy.drain(0, 0);
  pod.tls.resume();
  await until(() => pod.isClosed, 'the end at the pod');

  expect(pod.receivedBytes).toBeLessThan(flood.length);
  expect({ sawEnd: pod.sawEnd, code: pod.error?.code }).toEqual({
    sawEnd: false,
    code: 'ECONNRESET',
  });
  expect(proxy.counters.failures()).toEqual({ drained: 1 });
});

test.each([
  ['drained before the end', false],
  ['ended by both sides', true],
])('sends a close_notify to the pod only after a complete stream: %s', async (_, isComplete) => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });
  await using relay = await RecordingRelay.start(proxy.ports[0]!);
  using pod = await Pod.dial(relay.port, { ca: lab.authority.cert });
  expect(await pod.echo('first part')).toBe('first part');

  if (isComplete) pod.tls.end();
  else await proxy.drain(0, 0);
  await until(() => relay.hasEnded, 'the end');

  expect(relay.lastRecordBytes() === CLOSE_NOTIFY_BYTES).toBe(isComplete);
});

/** Length of a close_notify record in TLS 1.3: level and description, content type, and tag. */
const CLOSE_NOTIFY_BYTES = 2 + 1 + 16;

/** A relay between a pod and the proxy that records the bytes of the proxy. */
class RecordingRelay implements AsyncDisposable {
  readonly #server: Server;
  readonly #sent: Buffer[] = [];
  hasEnded = false;

  private constructor(port: number) {
    this.#server = createServer({ allowHalfOpen: true }, (pod) => {
      const proxy = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      pod.pipe(proxy).pipe(pod);
      proxy.on('data', (chunk: Buffer) => this.#sent.push(chunk));
      proxy.on('end', () => (this.hasEnded = true));
      for (const socket of [pod, proxy]) socket.on('error', () => {}); // the test closes connections
    });
  }

  static async start(port: number): Promise<RecordingRelay> {
    const relay = new RecordingRelay(port);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Returns the length of the content of the last record. */
  lastRecordBytes(): number {
    const bytes = Buffer.concat(this.#sent);
    let length = 0;
    for (let at = 0; at < bytes.length; at += 5 + length) length = bytes.readUInt16BE(at + 3);
    return length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
  }
}
