import { expect, test } from 'bun:test';
import { until, type Peer } from '../../net/testing/peer.ts';
import { TestAuthority } from '../../net/testing/certificates.ts';
import { ALERT_RECORDS } from '../../wire/alert.ts';
import { API_HOST, ProbeLab } from '../testing/lab.ts';
import { underShortLimit } from '../testing/short-limit.ts';
import { KnownAuthorities } from '../tls/authorities.ts';

test('an edge that passes TLS through reaches the tenant', async () => {
  await using lab = await ProbeLab.create();
  const api = await lab.apiServer();
  const gateway = await lab.gateway([{ host: API_HOST, endpoints: [`127.0.0.1:${api.port}`] }]);

  const { sni } = await lab.probe({ port: gateway.port });

  expect(sni).toEqual({
    name: 'sni',
    target: `a.k8s.test:${gateway.port}`,
    state: 'Pass',
    code: 'Passed',
    message: `Host a.k8s.test at 127.0.0.1:${gateway.port} reaches this tenant.`,
  });
  expect([...new Set(api.serverNames)]).toEqual([API_HOST]);
});

test('an edge that terminates TLS is detected by its certificate, and receives no data', async () => {
  await using lab = await ProbeLab.create();
  const edgeCa = await TestAuthority.create('edge-ca');
  const serving = await edgeCa.issue({ commonName: 'TRAEFIK DEFAULT CERT', names: [API_HOST] });
  const edge = await lab.apiServer({ serving });

  const { sni, certificate } = await lab.probe({ port: edge.port });

  expect(sni).toMatchObject({ state: 'Fail', code: 'EdgeTerminates' });
  expect(sni.message).toBe(
    `The server at 127.0.0.1:${edge.port} presents the certificate CN=TRAEFIK DEFAULT CERT issued by CN=edge-ca for host a.k8s.test. The tenant's CA did not sign it.`,
  );
  expect(sni.action).toStartWith('Enable TLS passthrough at the edge for a.k8s.test.');
  expect(certificate.message).toBe('Skipped because hop sni did not pass.');
  expect(edge.received).toBe(0);
});

test('a CA with the same name and another key is another CA', async () => {
  await using lab = await ProbeLab.create();
  const impostor = await TestAuthority.create('kubernetes');
  const { port } = await lab.apiServer({ serving: await impostor.issue({ names: [API_HOST] }) });

  const { sni } = await lab.probe({ port });

  expect(sni.code).toBe('EdgeTerminates');
});

test('distinguishes an API server with an unknown CA from an edge', async () => {
  await using lab = await ProbeLab.create();
  const next = await TestAuthority.create('kubernetes');
  const names = [API_HOST, 'kubernetes.default.svc'];
  const { port } = await lab.apiServer({ serving: await next.issue({ names }) });

  const { sni } = await lab.probe({ port });

  expect(sni).toMatchObject({ state: 'Fail', code: 'UnknownAuthority' });
  expect(sni.message).toEndWith(
    "It is the certificate of an API server, but the tenant's CA did not sign it.",
  );
  expect(sni.action).toStartWith('Check where the route of a.k8s.test points.');
});

test('names another tenant that answers', async () => {
  await using lab = await ProbeLab.create();
  const other = await TestAuthority.create('kubernetes');
  const { port } = await lab.apiServer({ serving: await other.issue({ names: [API_HOST] }) });
  const knownAuthorities = new KnownAuthorities();
  knownAuthorities.set('tenants/a', lab.authority.cert);
  knownAuthorities.set('tenants/b', other.cert);

  const { sni } = await lab.probe({ port, knownAuthorities });

  expect(sni).toMatchObject({ state: 'Fail', code: 'OtherTenant' });
  expect(sni.message).toBe(`Host a.k8s.test at 127.0.0.1:${port} reaches tenant tenants/b.`);
  expect(sni.action).toBe('Look for a second route object that claims a.k8s.test, and remove it.');
});

test('identifies the owner of an expired certificate', async () => {
  await using lab = await ProbeLab.create();
  const notAfter = new Date(Date.now() - 1000);
  const expired = await lab.authority.issue({ names: [API_HOST], notAfter });
  const other = await (await TestAuthority.create()).issue({ names: [API_HOST], notAfter });
  const ownServer = await lab.apiServer({ serving: expired });
  const otherServer = await lab.apiServer({ serving: other });

  expect((await lab.probe({ port: ownServer.port })).sni.code).toBe('Passed');
  expect((await lab.probe({ port: otherServer.port })).sni.code).toBe('EdgeTerminates');
});

test("Snicket's own gateway has no route for the host", async () => {
  await using lab = await ProbeLab.create();
  const gateway = await lab.gateway([]);

  const { sni } = await lab.probe({ port: gateway.port });

  expect(sni).toMatchObject({ state: 'Fail', code: 'NoRoute' });
  expect(sni.message).toBe(
    `The server at 127.0.0.1:${gateway.port} sent the TLS alert unrecognized_name for host a.k8s.test.`,
  );
  expect(gateway.failures('name_unknown')).toBe(1);
});

test("Snicket's own gateway has no endpoint for the route", async () => {
  await using lab = await ProbeLab.create();
  const gateway = await lab.gateway([{ host: API_HOST, endpoints: [] }]);

  const { sni } = await lab.probe({ port: gateway.port });

  expect(sni).toMatchObject({ state: 'Fail', code: 'NoEndpoint' });
  expect(sni.message).toContain('the TLS alert internal_error');
  // A control plane at fixed addresses has no Service.
  expect(sni.action).toBe(
    `Check that the control plane of ${API_HOST} runs, and that its Service has ready endpoints or, if the Exposure lists addresses, that it listens at those in spec.controlPlane.endpoints.`,
  );
});

const REFUSALS: [string, (peer: Peer) => unknown, string, string][] = [
  ['resets', (peer) => peer.reset(), 'NoRoute', 'closed the connection during the handshake'],
  ['closes', (peer) => peer.close(), 'NoRoute', 'closed the connection during the handshake'],
  [
    'sends the alert unrecognized_name',
    async (peer) => peer.send(ALERT_RECORDS.unrecognized_name),
    'NoRoute',
    'sent the TLS alert unrecognized_name',
  ],
  [
    'sends another alert',
    async (peer) => peer.send(ALERT_RECORDS.handshake_failure),
    'TlsRefused',
    'sent the TLS alert handshake_failure',
  ],
  [
    'sends an invalid TLS record',
    async (peer) => peer.send(Buffer.from([22, 3, 3, 0, 4, 99, 0, 0, 0])),
    'TlsRefused',
    'broke the TLS handshake (ERR_SSL_UNEXPECTED_MESSAGE)',
  ],
  [
    'answers in plain HTTP',
    async (peer) => peer.send(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')),
    'NotTls',
    'does not answer in TLS',
  ],
];

test.each(REFUSALS)('an edge that %s fails', async (_, answer, code, sentence) => {
  await using lab = await ProbeLab.create();
  const edge = lab.edgeThat((peer) => void answer(peer));

  const { sni } = await lab.probe({ port: edge.port });

  expect(sni).toMatchObject({ state: 'Fail', code });
  expect(sni.message).toContain(`127.0.0.1:${edge.port} ${sentence}`);
  expect(sni.action).toContain(API_HOST);
  await until(() => edge.peers.every((peer) => peer.closed || peer.sawFin), 'the hang-up');
});

test('an edge that resets every connection before the handshake', async () => {
  await using lab = await ProbeLab.create();
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: (socket) => socket.terminate(), data() {} },
  });
  using _ = { [Symbol.dispose]: () => listener.stop(true) };

  const { edge, sni } = await lab.probe({ port: listener.port });

  expect(edge.code).toBe('Passed');
  expect(sni.code).toBe('NoRoute');
});

test.each<[string, Buffer]>([
  ['is silent after it has accepted the connection', Buffer.alloc(0)],
  ['stops in the middle of its hello', Buffer.from([22, 3, 3, 0, 100, 2, 0, 0, 96, 3, 3])],
])('an edge that %s fails after the timeout', async (_, bytes) => {
  await using lab = await ProbeLab.create();
  const edge = lab.edgeThat((peer) => void peer.send(bytes));

  let limitMs = 0;
  const { sni } = await underShortLimit(
    async (timeoutMs) => {
      limitMs = timeoutMs;
      return lab.probe({ port: edge.port }, { timeoutMs });
    },
    (hops) => hops.sni.code === 'TlsTimeout',
  );

  expect(sni).toMatchObject({ state: 'Fail', code: 'TlsTimeout' });
  expect(sni.message).toBe(
    `The server at 127.0.0.1:${edge.port} did not complete the TLS handshake for host a.k8s.test within ${limitMs} ms.`,
  );
  await until(() => edge.peers.every((peer) => peer.closed || peer.sawFin), 'the hang-up');
});
