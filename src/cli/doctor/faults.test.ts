import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { OWNER_LEASE } from '../../tenant/owner-lease.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { makeCa } from '../../pki/testing/test-ca.ts';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';
import { TestAuthority } from '../../net/testing/certificates.ts';
import { addKamaji, REQUESTS_EDGE, startProvidedLab } from '../../operator/testing/provided-lab.ts';
import {
  API_HOST,
  DoctorLab,
  examineIn,
  failuresIn,
  KONNECTIVITY_HOST,
} from './testing/doctor-lab.ts';

setDefaultTimeout(240_000);

/** Names that every API server has in its certificate. */
const OWN_NAMES = ['kubernetes', 'kubernetes.default.svc'];

describe('doctor reports one code for each fault:', () => {
  let lab: DoctorLab;

  beforeAll(async () => {
    lab = await DoctorLab.start();
  });

  afterEach(async () => lab.restore());

  afterAll(async () => lab[Symbol.asyncDispose]());

  test('no code for a healthy path', async () => {
    const { hops, findings } = await lab.examine();

    expect(findings).toEqual([]);
    expect(hops.map(({ name, state, code }) => `${name} ${state} ${code}`)).toEqual([
      ...['dns Pass Passed', 'edge Pass Passed', 'sni Pass Passed'],
      ...['certificate Pass Passed', 'api Pass Passed'],
      ...['konnectivity Pass Passed', 'endpoints Pass Passed'],
      ...['proxies Pass ProxiesReady', 'kubeconfig Skip NotApplicable'],
    ]);
  });

  test('the edge ends TLS itself', async () => {
    const own = await TestAuthority.create('edge-ca');
    const serving = await own.issue({ names: [API_HOST, KONNECTIVITY_HOST] });
    const edge = await lab.serve({ serving });

    await lab.operator.applyEdge({ port: edge.port });

    await lab.untilFailures('EdgeTerminates');
  });

  test('DNS points to an unused address, and the Edge does not answer', async () => {
    lab.lookup = async () => ['127.0.0.9'];
    await lab.operator.applyEdge({ addresses: ['127.0.0.8'] });

    await lab.untilFailures('DnsWrongAddress', 'EdgeRefused');
  });

  test('DNS points to another address while the Edge works, which is a warning', async () => {
    lab.lookup = async () => ['127.0.0.9'];

    await lab.untilFailures();
    const [dns] = (await lab.examine()).hops;
    expect(dns).toMatchObject({ state: 'Pass', code: 'DnsMismatch' });
    expect(dns?.action).toContain('split-horizon DNS');
  });

  test('the certificate lacks the host', async () => {
    const api = await lab.serve({ serving: await lab.certificate(OWN_NAMES) });

    await lab.leadTo(api.port);

    await lab.untilFailures('CertificateNameMissing');
  });

  test('one certificate of both servers lacks both hosts', async () => {
    const serving = await lab.certificate(OWN_NAMES);
    const api = await lab.serve({ serving });
    const konnectivity = await lab.serve({ serving, protocols: ['h2'] });

    await lab.leadTo(api.port, konnectivity.port);

    await lab.untilFailures('CertificateNameMissing');
  });

  test('the certificate has expired', async () => {
    const api = await lab.serve({ serving: await lab.expiredCertificate() });

    await lab.leadTo(api.port);

    await lab.untilFailures('CertificateExpired');
  });

  test('the endpoint reconciler of the API server writes the endpoints', async () => {
    await lab.writeEndpoints('kube-apiserver', '10.0.0.5');

    await lab.untilFailures('EndpointsOverwritten');
  });

  test('the image of the proxy cannot be pulled', async () => {
    await breakProxies(lab, { ready: 0, updated: 1 });

    await lab.untilFailures('ProxyImageMissing');
  });

  test('the image of the next proxy cannot be pulled, while the previous proxies run', async () => {
    await breakProxies(lab, { ready: 1, updated: 0 });

    await lab.untilFailures('ProxyImageMissing');
  });

  test('no node is selected for a proxy', async () => {
    await wantNoProxy(lab);

    await lab.untilFailures('NoNodeSelected');
  });

  test.each(['nodes', 'pods'])(
    'no node is selected for a proxy, and listing %s is forbidden',
    async (plural) => {
      await wantNoProxy(lab);
      const proxies = async () => {
        const { hops } = await lab.examine();
        return hops.find(({ name }) => name === 'proxies');
      };
      // The dry run counts nodes as the operator does, and the doctor once more.
      const fault = (status: number, reason: string) => {
        const answer = { kind: 'error', status, reason } as const;
        const times = plural === 'nodes' ? 2 : 1;
        for (let left = times; left > 0; left--) {
          lab.tenant.server.inject(answer, { verb: 'list', plural });
        }
      };

      // 1. An error is not a count of zero: the report of the operator is shown.
      fault(500, 'InternalError');
      const unread = await proxies();
      expect(unread).toMatchObject({ state: 'Skip', code: 'NotObserved' });
      expect(unread?.message).toMatch(
        new RegExp(
          `^Not checked: .*${plural}.* injected: InternalError. The operator reports Pass`,
        ),
      );

      // 2. All other checks work without this permission.
      fault(403, 'Forbidden');
      expect((await proxies())?.state).not.toBe('Skip');
    },
  );

  test('there is no route for konnectivity', async () => {
    await lab.routeKonnectivity('haproxy');

    await lab.untilFailures('NoRoute');
  });

  test('no agent is connected to konnectivity', async () => {
    const { server } = lab.tenant;
    const fault = (status: number, reason: string) => {
      server.clearFaults();
      const plural = '/api/v1/nodes/worker-1/proxy/healthz';
      server.inject({ kind: 'error', status, reason }, { plural }, Infinity);
    };

    fault(503, 'ServiceUnavailable');
    await lab.untilFailures('KonnectivityNoAgent');

    fault(403, 'Forbidden');
    await lab.untilFailures();
    const { hops } = await lab.examine();
    server.clearFaults();
    expect(hops.find(({ name }) => name === 'konnectivity')).toMatchObject({
      state: 'Skip',
      code: 'AgentCheckForbidden',
    });
  });

  test('the servers have certificates of a new CA, and the Secrets have the old CA', async () => {
    const ca = await makeCa();
    const api = await lab.serve({ serving: await lab.certificate([...OWN_NAMES, API_HOST], ca) });
    const konnectivity = await lab.serve({
      serving: await lab.certificate([KONNECTIVITY_HOST], ca),
      protocols: ['h2'],
    });

    await lab.leadTo(api.port, konnectivity.port);

    await lab.untilFailures('UnknownAuthority');
  });

  test('the Secret has a new CA, and the kubeconfig has the old CA', async () => {
    const { certificate, key } = await makeCa();

    await lab.operator.changeSecret('blue-ca', { 'tls.crt': certificate, 'tls.key': key });

    await lab.untilFailures('CaMismatch');
  });

  test('a kubeconfig has the previous port', async () => {
    const { credentials } = lab.tenant.server.access;
    if (credentials.kind !== 'token') throw new Error('the lab authenticates clients by token');
    const kubeconfig = writeKubeconfig({
      server: `https://${API_HOST}:6443`,
      ca: lab.tenant.server.ca,
      names: { cluster: 'blue', user: 'admin' },
      credentials,
    });

    await lab.operator.changeSecret('blue-kubeconfig', { 'admin.conf': kubeconfig });

    await lab.untilFailures('KubeconfigMismatch');
  });
});

describe('doctor reports a control plane of a provider', () => {
  const WITHOUT_KONNECTIVITY = { 'spec.addons.konnectivity': undefined };

  test('whose annotation names a missing Edge', async () => {
    await using lab = await startProvidedLab({ transport: 'tls' });

    await addKamaji(lab, 'blue', { 'metadata.annotations': { 'snicket.dev/edge': 'nowhere' } });

    await lab.untilCondition('blue', 'Accepted', /^False EdgeNotFound/);
    expect(failuresIn(await examineIn(lab, 'blue'))).toEqual(['EdgeNotFound']);
  });

  test('whose tenant belongs to another management cluster', async () => {
    await using lab = await startProvidedLab({ transport: 'tls', hasGateway: true });
    const asks = { ...WITHOUT_KONNECTIVITY, 'metadata.annotations': REQUESTS_EDGE };
    const { controllers, user } = await addKamaji(lab, 'blue', asks);
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.untilCondition('blue', 'Ready', /^True/);
    await lab.stopOperator();

    const spec = { holderIdentity: 'another-cluster/tenants/blue' };
    await user.patch(RESOURCES.lease, OWNER_LEASE, 'merge', { spec });

    const { findings } = await examineIn(lab, 'blue');
    expect(findings.map(({ code }) => code)).toContain('TenantOwnedElsewhere');
    expect(findings.find(({ code }) => code === 'TenantOwnedElsewhere')?.action).toContain(
      'kubectl delete lease snicket-owner --namespace=kube-system',
    );
  });

  test('that publishes kubeconfigs with the previous port', async () => {
    await using lab = await startProvidedLab({ transport: 'tls', hasGateway: true });
    const asks = { ...WITHOUT_KONNECTIVITY, 'metadata.annotations': REQUESTS_EDGE };
    const { controllers, server } = await addKamaji(lab, 'blue', asks);
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.untilCondition('blue', 'Ready', /^True/);
    await lab.untilCondition('blue', 'Reachable', /^True/);
    const { credentials } = server.access;
    if (credentials.kind !== 'token') throw new Error('the lab authenticates clients by token');
    const old = writeKubeconfig({
      server: `https://${API_HOST}:6443`,
      ca: server.ca,
      credentials,
      names: { cluster: 'blue', user: 'admin' },
    });

    await lab.changeSecret('blue-admin-kubeconfig', { 'admin.conf': old });

    const examination = await examineIn(lab, 'blue');
    expect(failuresIn(examination)).toEqual(['KubeconfigMismatch']);
    expect(examination.hops.at(-1)?.action).toStartWith(
      'If this persists, have the provider recreate it (Snicket does so itself if ClusterRole snicket-renew-secrets is bound to it): kubectl delete -n tenants secret blue-admin-kubeconfig',
    );
  });
});

/** Patches the DaemonSet as if its selector matched no node. */
async function wantNoProxy({ tenant }: DoctorLab): Promise<void> {
  tenant.controllers.pause();
  await tenant.user.patch(
    ...([RESOURCES.daemonSet, PROXY, 'merge'] as const),
    { status: { desiredNumberScheduled: 0, numberReady: 0, updatedNumberScheduled: 0 } },
    { subresource: 'status' },
  );
}

/** Reports a pod as kubelet does if its image does not exist. */
async function breakProxies(
  { tenant }: DoctorLab,
  { ready, updated }: { readonly ready: number; readonly updated: number },
): Promise<void> {
  tenant.controllers.pause();
  const status = { subresource: 'status' } as const;
  await tenant.user.patch(
    ...([RESOURCES.daemonSet, PROXY, 'merge'] as const),
    { status: { numberReady: ready, updatedNumberScheduled: updated } },
    status,
  );
  const pod = { namespace: PROXY.namespace, name: `${PROXY.name}-worker-1` };
  const waiting = { reason: 'ErrImagePull' };
  await tenant.user.patch(
    ...([RESOURCES.pod, pod, 'merge'] as const),
    {
      status: {
        conditions: [
          { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' },
        ],
        containerStatuses: [{ name: 'proxy', image: 'nowhere.test/proxy:1', state: { waiting } }],
      },
    },
    status,
  );
}
