import { expect, test } from 'bun:test';
import { freePort } from '../net/testing/free-port.ts';
import { until } from '../net/testing/peer.ts';
import { TestAuthority } from '../net/testing/certificates.ts';
import { HOPS } from './codes.ts';
import { probeExposure, tenantHopsNotObserved } from './probe-exposure.ts';
import { API_HOST, KONNECTIVITY_HOST, ProbeLab, type Hops } from './testing/lab.ts';

const NOT_FOUND = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });

function states(hops: Hops): string {
  return Object.values(hops)
    .map(({ name, state }) => `${name} ${state}`)
    .join(', ');
}

const KUBECONFIG = (port: number) => `
current-context: admin
contexts: [{name: admin, context: {cluster: a, user: admin}}]
clusters: [{name: a, cluster: {server: "https://${API_HOST}:${port}"}}]
`;

test("all hops through Snicket's own gateway pass", async () => {
  await using lab = await ProbeLab.create();
  const api = await lab.apiServer();
  const konnectivity = await lab.konnectivityServer();
  const gateway = await lab.gateway([
    { host: API_HOST, endpoints: [`127.0.0.1:${api.port}`] },
    {
      host: KONNECTIVITY_HOST,
      kind: 'konnectivity',
      endpoints: [`127.0.0.1:${konnectivity.port}`],
    },
  ]);

  const hops = await lab.probe({
    konnectivityHost: KONNECTIVITY_HOST,
    port: gateway.port,
    endpoints: { planned: [], live: [] },
    proxies: {
      daemonSet: {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'snicket-proxy', generation: 1 },
        status: {
          observedGeneration: 1,
          desiredNumberScheduled: 1,
          numberReady: 1,
          updatedNumberScheduled: 1,
        },
      },
      image: 'snicket:1',
    },
    kubeconfig: { text: KUBECONFIG(gateway.port) },
  });

  expect(HOPS.map((name) => hops[name].code)).toEqual([
    ...['Passed', 'Passed', 'Passed', 'Passed', 'Passed'],
    ...['Passed', 'Passed', 'ProxiesReady', 'Passed'],
  ] as const);
  expect(HOPS.filter((name) => hops[name].action !== undefined)).toEqual([]);
});

test('closes all connections, and the gateway counts none as a failure', async () => {
  await using lab = await ProbeLab.create();
  const api = await lab.apiServer();
  const gateway = await lab.gateway([{ host: API_HOST, endpoints: [`127.0.0.1:${api.port}`] }]);

  for (let round = 0; round < 8; round++) await lab.probe({ port: gateway.port });

  await until(() => gateway.number('connections_open') === 0, 'the end of all connections');
  // One per round: the handshake that is checked also carries the request.
  expect(gateway.number('connections_accepted_total')).toBe(8);
  const failures = gateway.gateway.metrics
    .text()
    .split('\n')
    .filter((line) => /^snicket_gateway_failures_total.* [1-9]/.test(line));
  expect(failures).toEqual([]);
});

test('returns the hops with facts, in the order of the path', async () => {
  await using lab = await ProbeLab.create();
  const api = await lab.apiServer();

  const results = await probeExposure(
    {
      apiHost: API_HOST,
      port: api.port,
      edgeAddresses: ['127.0.0.1'],
      tenantCa: lab.authority.cert,
    },
    { lookup: async () => ['127.0.0.1'] },
  );

  expect(results.map(({ name }) => name)).toEqual(HOPS.slice(0, 6));
  expect(results.at(-1)).toMatchObject({ name: 'konnectivity', code: 'NotApplicable' });
});

test("hops that need the tenant's API are not observed if it was unreachable", () => {
  const hops = tenantHopsNotObserved();

  expect(hops.map(({ name }) => name)).toEqual(['endpoints', 'proxies']);
  expect(hops[0]).toMatchObject({ state: 'Skip', code: 'NotObserved' });
  expect(hops[0]?.message).toContain('see WorkersReady');
});

test('a DNS problem does not hide the results of other hops', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer();
  const lookup = async () => {
    throw NOT_FOUND;
  };

  const hops = await lab.probe({ port }, { lookup });

  expect(hops.dns.code).toBe('DnsNoAnswer');
  expect(hops.api.code).toBe('Passed');
});

test('dials the addresses of the API host if the Edge has none', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer();

  const hops = await lab.probe({ port, edgeAddresses: [] });

  expect(states(hops)).toStartWith('dns Pass, edge Pass, sni Pass, certificate Pass, api Pass');
});

test('skips the hops behind DNS if only DNS has the address of the edge', async () => {
  await using lab = await ProbeLab.create();
  const lookup = async () => [];

  const hops = await lab.probe(
    { edgeAddresses: [], konnectivityHost: KONNECTIVITY_HOST },
    { lookup },
  );

  expect(states(hops)).toStartWith(
    'dns Fail, edge Skip, sni Skip, certificate Skip, api Skip, konnectivity Skip',
  );
  expect(hops.sni.code).toBe('PrerequisiteFailed');
  expect(hops.sni.message).toBe('Skipped because hop dns did not pass.');
});

test('resolves the host name of an edge', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer();
  const lookup = async (host: string) => (host === 'lb.test' ? ['127.0.0.1'] : ['127.0.0.2']);

  const hops = await lab.probe({ port, edgeAddresses: ['lb.test'] }, { lookup });

  expect(hops.dns.message).toBe(
    'Host a.k8s.test resolves to 127.0.0.2, but the edge has 127.0.0.1.',
  );
  expect(hops.sni.code).toBe('Passed');
});

test('a host name of the edge without an address fails hop edge', async () => {
  await using lab = await ProbeLab.create();
  const lookup = async (host: string) => (host === 'lb.test' ? [] : ['127.0.0.2']);

  const hops = await lab.probe({ edgeAddresses: ['lb.test'] }, { lookup });

  expect(hops.edge).toMatchObject({ code: 'AddressUnknown', target: 'lb.test' });
  expect(hops.edge.action).toStartWith('Set spec.addresses of the Edge to IP addresses');
  expect(hops.sni.message).toBe('Skipped because hop edge did not pass.');
});

test('skips hop api if no client would accept the certificate', async () => {
  await using lab = await ProbeLab.create();
  const serving = await lab.authority.issue({ names: ['b.k8s.test'] });
  const api = await lab.apiServer({ serving });

  const hops = await lab.probe({ port: api.port });

  expect(states(hops)).toStartWith('dns Pass, edge Pass, sni Pass, certificate Fail, api Skip');
  expect(hops.api.message).toBe('Skipped because hop certificate did not pass.');
  expect(api.received).toBe(0);
});

test('checks every address of the edge, and names the one that does not reach the tenant', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer({ port: freePort() });
  const other = await TestAuthority.create('edge-ca');
  await lab.apiServer({ serving: await other.issue(), address: '127.0.0.2', port });

  const hops = await lab.probe({ port, edgeAddresses: ['127.0.0.1', '127.0.0.2'] });

  expect(hops.edge.code).toBe('Passed');
  expect(hops.sni).toMatchObject({ state: 'Pass', code: 'Degraded' });
  expect(hops.sni.message).toContain(
    `Another address of the edge fails. The server at 127.0.0.2:${port} presents`,
  );
  expect(hops.sni.action).toContain(`127.0.0.2:${port}`);
  expect(hops.api.code).toBe('Passed');
});

test('an address that leads agents elsewhere is named, and konnectivity passes', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.konnectivityServer({ port: freePort() });
  const other = await TestAuthority.create('edge-ca');
  await lab.apiServer({ serving: await other.issue(), address: '127.0.0.2', port });
  const edgeAddresses = ['127.0.0.1', '127.0.0.2'];

  const hops = await lab.probe({ port, edgeAddresses, konnectivityHost: KONNECTIVITY_HOST });

  expect(hops.konnectivity).toMatchObject({ state: 'Pass', code: 'Degraded' });
  expect(hops.konnectivity.message).toContain(
    `Another address of the edge fails. The server at 127.0.0.2:${port} presents`,
  );
});

test('one dead address of several does not make the tenant unreachable', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer();

  const hops = await lab.probe({ port, edgeAddresses: ['127.0.0.1', '127.0.0.2'] });

  expect(hops.edge).toMatchObject({ state: 'Pass', code: 'Degraded' });
  expect(states(hops)).toStartWith('dns Pass, edge Pass, sni Pass, certificate Pass, api Pass');
});

test('split-horizon DNS is a warning while the Edge reaches the tenant', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer();
  const lookup = async () => ['127.0.0.9'];

  const hops = await lab.probe({ port }, { lookup });

  expect(hops.dns).toMatchObject({ state: 'Pass', code: 'DnsMismatch' });
  expect(hops.dns.message).toBe(
    'Host a.k8s.test resolves to 127.0.0.9, but the edge has 127.0.0.1.',
  );
  expect(hops.edge.code).toBe('Passed');
});

test('reaches the tenant at the addresses in DNS if those of the Edge are unreachable from here', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer();

  const hops = await lab.probe({ port, edgeAddresses: ['127.0.0.9'] });

  expect(hops.dns.code).toBe('DnsMismatch');
  expect(hops.edge.code).toBe('Degraded');
  expect(hops.edge.message).toBe(
    `Nothing listens at 127.0.0.9:${port}. The tenant is reachable at 127.0.0.1, to which DNS points.`,
  );
  expect(hops.api.code).toBe('Passed');
});

test('DNS that points elsewhere is a failure if no address reaches the tenant', async () => {
  await using lab = await ProbeLab.create();
  const port = freePort();

  const hops = await lab.probe({ port, edgeAddresses: ['127.0.0.9'] });

  expect(hops.dns).toMatchObject({ state: 'Fail', code: 'DnsWrongAddress' });
  expect(hops.edge.code).toBe('EdgeRefused');
  expect(hops.edge.message).toBe(`Nothing listens at 127.0.0.9:${port}.`);
});

test('an unusable CA of the tenant fails, and no peer is identified', async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer();
  const target = { port, konnectivityHost: KONNECTIVITY_HOST };

  const empty = await lab.probe({ ...target, tenantCa: '' });
  const broken = await lab.probe({ ...target, tenantCa: lab.authority.cert.replace(/M/g, 'x') });

  expect(empty.sni.code).toBe('CaInvalid');
  expect(empty.sni.message).toBe("The tenant's CA cannot be used: there is no certificate in it.");
  expect(broken.sni.message).toBe(
    "The tenant's CA cannot be used: certificate 1 of 1 cannot be read.",
  );
  expect(broken.konnectivity.message).toBe('Skipped because hop sni did not pass.');
});

test("without the tenant's CA no peer is identified, and only DNS and the edge are checked", async () => {
  await using lab = await ProbeLab.create();
  const { port } = await lab.apiServer();

  const hops = await lab.probe({ port, tenantCa: undefined, konnectivityHost: KONNECTIVITY_HOST });

  expect(states(hops)).toBe(
    'dns Pass, edge Pass, sni Skip, certificate Skip, api Skip, konnectivity Skip',
  );
  expect(hops.sni.code).toBe('NotObserved');
  expect(hops.sni.message).toBe("Not checked because the tenant's CA is unknown.");
});

test('unready proxies are skipped if the edge does not reach the tenant', async () => {
  await using lab = await ProbeLab.create();
  const other = await TestAuthority.create('edge-ca');
  const { port } = await lab.apiServer({ serving: await other.issue() });
  const proxies = {
    daemonSet: {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'snicket-proxy' },
      status: { desiredNumberScheduled: 1, numberReady: 0 },
    },
    image: 'snicket:1',
  };

  const hops = await lab.probe({ port, proxies });

  expect(hops.sni.code).toBe('EdgeTerminates');
  expect(hops.proxies).toMatchObject({ state: 'Skip', code: 'PrerequisiteFailed' });
  expect(hops.proxies.message).toContain(
    'Failed, most likely for the same reason as hop sni: 0 of 1 proxies are ready',
  );
});

test('ends at once with the reason when aborted', async () => {
  await using lab = await ProbeLab.create();
  const edge = lab.edgeThat(() => {});
  const caller = new AbortController();
  const reason = new Error('shutting down');

  const probe = lab.probe({ port: edge.port }, { signal: caller.signal, timeoutMs: 600_000 });
  const hello = await edge.next();
  await until(() => hello.received > 0, 'the hello');
  caller.abort(reason);

  await expect(probe).rejects.toBe(reason);
  await until(() => edge.peers.every(({ closed, sawFin }) => closed || sawFin), 'the hang-up');
});

test('does not start if the signal was aborted before', async () => {
  await using lab = await ProbeLab.create();
  const edge = lab.edgeThat(() => {});
  const signal = AbortSignal.abort(new Error('gone'));

  await expect(lab.probe({ port: edge.port }, { signal })).rejects.toThrow('gone');
  expect(edge.peers).toEqual([]);
});
