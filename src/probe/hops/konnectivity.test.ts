import { expect, test } from 'bun:test';
import type { Peer } from '../../net/testing/peer.ts';
import { TestAuthority } from '../../net/testing/certificates.ts';
import { ALERT_RECORDS } from '../../wire/alert.ts';
import { API_HOST, DAY_MS, KONNECTIVITY_HOST, ProbeLab } from '../testing/lab.ts';
import { underShortLimit } from '../testing/short-limit.ts';
import type { ProbeOptions } from '../probe-exposure.ts';
import { KnownAuthorities } from '../tls/authorities.ts';

/** Starts a gateway that routes the konnectivity host to this port. Its other host works. */
async function edgeTo(lab: ProbeLab, port: number) {
  const serving = await lab.authority.issue({ names: [API_HOST] });
  const api = await lab.apiServer({ serving });
  return lab.gateway([
    { host: API_HOST, endpoints: [`127.0.0.1:${api.port}`] },
    { host: KONNECTIVITY_HOST, kind: 'konnectivity', endpoints: [`127.0.0.1:${port}`] },
  ]);
}

async function probe(lab: ProbeLab, port: number, options: ProbeOptions = {}) {
  const edge = await edgeTo(lab, port);
  const target = { port: edge.port, konnectivityHost: KONNECTIVITY_HOST };
  return (await lab.probe(target, options)).konnectivity;
}

test('an HTTP/2 server with a valid certificate for the host passes', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.konnectivityServer();

  const konnectivity = await probe(lab, port);

  expect(konnectivity).toMatchObject({ name: 'konnectivity', state: 'Pass' });
  expect(konnectivity.code).toBe('Passed');
  expect(konnectivity.target).toMatch(/^a\.konnectivity\.test:\d+$/);
});

test('does not depend on how the API host is routed', async () => {
  await using lab = await ProbeLab.create();
  const server = await lab.konnectivityServer();
  const gateway = await lab.gateway([
    {
      host: KONNECTIVITY_HOST,
      kind: 'konnectivity',
      endpoints: [`127.0.0.1:${server.port}`],
    },
  ]);

  const hops = await lab.probe({ port: gateway.port, konnectivityHost: KONNECTIVITY_HOST });

  expect(hops.sni.code).toBe('NoRoute');
  expect(hops.konnectivity.code).toBe('Passed');
});

test('is skipped without konnectivity', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer();

  const { konnectivity } = await lab.probe({ port });

  expect(konnectivity).toMatchObject({ state: 'Skip', code: 'NotApplicable' });
  expect(konnectivity.message).toBe('The control plane has no konnectivity server.');
});

test('a route to the API server fails, although its certificate is the same', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer();

  const konnectivity = await probe(lab, port);

  expect(konnectivity).toMatchObject({ state: 'Fail', code: 'NotKonnectivity' });
  expect(konnectivity.action).toBe(
    'Check that the route of a.konnectivity.test points to the agent port of konnectivity-server.',
  );
});

test('a server without HTTP/2 fails, since agents require it', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer({ protocols: [] });

  const konnectivity = await probe(lab, port);

  expect(konnectivity).toMatchObject({ state: 'Fail', code: 'NotKonnectivity' });
  expect(konnectivity.message).toMatch(
    /^Host a\.konnectivity\.test at 127\.0\.0\.1:\d+ does not negotiate HTTP\/2\.$/,
  );
});

test('the certificate needs the name of the konnectivity host', async () => {
  await using lab = await ProbeLab.create();
  const serving = await lab.authority.issue({ names: [API_HOST] });
  const { port } = await lab.konnectivityServer({ serving });

  const konnectivity = await probe(lab, port);

  expect(konnectivity).toMatchObject({ state: 'Fail', code: 'CertificateNameMissing' });
  expect(konnectivity.message).toBe(
    'The certificate does not include a.konnectivity.test. Its names: a.k8s.test.',
  );
});

test.each<[string, number, string]>([
  ['is about to expire', 360, 'CertificateExpiresSoon'],
  ['has expired', 364.5, 'CertificateExpired'],
  ['is not valid yet', -9.5, 'CertificateNotYetValid'],
])('a certificate that %s', async (_, days, code) => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.konnectivityServer();

  const konnectivity = await probe(lab, port, { now: new Date(Date.now() + days * DAY_MS) });

  expect(konnectivity.code).toBe(code as typeof konnectivity.code);
  expect(konnectivity.action).toContain(
    'the certificate CN=kube-apiserver issued by CN=kubernetes',
  );
});

test('names the peer if it is not this tenant', async () => {
  await using lab = await ProbeLab.create();
  const other = await TestAuthority.create('kubernetes');
  const { port } = await lab.konnectivityServer({ serving: await other.issue() });
  const knownAuthorities = new KnownAuthorities();
  const edge = await edgeTo(lab, port);
  const target = { port: edge.port, konnectivityHost: KONNECTIVITY_HOST, knownAuthorities };

  const unknown = await lab.probe(target);
  knownAuthorities.set('tenants/b', other.cert);
  const known = await lab.probe(target);

  expect(unknown.konnectivity.code).toBe('EdgeTerminates');
  expect(known.konnectivity.code).toBe('OtherTenant');
  expect(known.konnectivity.message).toEndWith('reaches tenant tenants/b.');
});

test.each<[string, (peer: Peer) => unknown, string]>([
  ['does not know the host', async (peer) => peer.send(ALERT_RECORDS.unrecognized_name), 'NoRoute'],
  ['hangs up', (peer) => peer.reset(), 'NoRoute'],
  [
    'has no endpoint for the host',
    async (peer) => peer.send(ALERT_RECORDS.internal_error),
    'NoEndpoint',
  ],
  ['refuses', async (peer) => peer.send(ALERT_RECORDS.handshake_failure), 'TlsRefused'],
  ['does not speak TLS', async (peer) => peer.send(Buffer.from('SSH-2.0-OpenSSH\r\n')), 'NotTls'],
])('an edge that %s fails', async (_, answer, code) => {
  await using lab = await ProbeLab.create();
  const { port } = lab.edgeThat((peer) => void answer(peer));

  const konnectivity = await probe(lab, port);

  expect(konnectivity).toMatchObject({ state: 'Fail', code });
  expect(konnectivity.action).toContain(KONNECTIVITY_HOST);
});

test('a silent edge fails after the timeout', async () => {
  await using lab = await ProbeLab.create();
  const { port } = lab.edgeThat(() => {});

  const konnectivity = await underShortLimit(
    async (timeoutMs) => probe(lab, port, { timeoutMs }),
    ({ code }) => code === 'TlsTimeout',
  );

  expect(konnectivity).toMatchObject({ state: 'Fail', code: 'TlsTimeout' });
});

test('distinguishes a control plane with an unknown CA from an edge', async () => {
  await using lab = await ProbeLab.create();
  const other = await TestAuthority.create('kubernetes');
  const names = [KONNECTIVITY_HOST, 'kubernetes.default.svc'];
  const { port } = await lab.konnectivityServer({ serving: await other.issue({ names }) });

  const konnectivity = await probe(lab, port);

  expect(konnectivity).toMatchObject({ state: 'Fail', code: 'UnknownAuthority' });
});

test('a fault that the API host has too, for the same cause, is reported only there', async () => {
  await using lab = await ProbeLab.create();
  const hosts = { konnectivityHost: KONNECTIVITY_HOST };
  const edgeCa = await TestAuthority.create('edge-ca');
  const ends = await lab.apiServer({ serving: await edgeCa.issue({ names: [API_HOST] }) });
  const shared = await lab.konnectivityServer({ serving: await lab.authority.issue() });
  const unrouted = await lab.gateway([]);

  const [edge, names, route] = await Promise.all(
    [ends, shared, unrouted].map(async ({ port }) => lab.probe({ ...hosts, port })),
  );

  expect(edge?.sni.code).toBe('EdgeTerminates');
  expect(names?.certificate.code).toBe('CertificateNameMissing');
  expect(route?.sni.code).toBe('NoRoute');
  for (const hops of [edge, names, route]) {
    expect(hops?.konnectivity).toMatchObject({ state: 'Skip', code: 'PrerequisiteFailed' });
  }
  expect(names?.konnectivity.message).toBe(
    'Failed, most likely for the same reason as hop certificate: The certificate does not include a.konnectivity.test. Its names: none.',
  );
});
