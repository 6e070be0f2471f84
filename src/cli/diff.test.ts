import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { parse } from 'yaml';
import { tenantRouteName } from '../edges/names.ts';
import { RESOURCES } from '../kube/resource.ts';
import { LAB_EDGES, type LabEdge } from '../operator/testing/edges.ts';
import { objectOf } from '../operator/testing/objects.ts';
import { OperatorLab } from '../operator/testing/operator-lab.ts';
import { TENANTS } from '../operator/testing/namespaces.ts';
import { KUBERNETES } from '../tenant/endpoints/kubernetes-endpoints.ts';
import { OWNER_LEASE } from '../tenant/owner-lease.ts';
import { PROXY, PROXY_CONFIG } from '../tenant/proxy-names.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

const IMAGE = ['--proxy-image', 'snicket.test/snicket:1'];

async function labWith({ spec, objects }: Pick<LabEdge, 'spec' | 'objects'>): Promise<OperatorLab> {
  const lab = await OperatorLab.start({ hasSockets: true, edge: spec });
  lab.management.seed(...objects);
  return lab;
}

/** Returns the name of the TenantRoute for the API of blue, with this driver. */
function routeName(driver: string): string {
  return tenantRouteName('blue', { edge: 'shared', driver, host: 'tenants-blue.k8s.example.test' });
}

describe('diff after a reconcile', () => {
  const edges = { snicket: { spec: {}, objects: [] }, ...LAB_EDGES };
  test.each(Object.entries(edges))('shows no changes behind %s', async (_driver, edge) => {
    await using lab = await labWith(edge);
    await lab.addExposed('blue');
    await lab.stopOperator();
    using terminal = new Terminal(lab.management);

    const ended = await terminal.snicket(['diff', 'tenants/blue', ...IMAGE]);

    expect(ended).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });
});

describe('diff before the first reconcile', () => {
  test('shows all objects as new', async () => {
    const { spec, objects } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({
      hasSockets: true,
      edge: spec,
      isOperatorRunning: false,
    });
    lab.management.seed(...objects);
    await lab.addTenant('blue');
    await lab.expose('blue');
    using terminal = new Terminal(lab.management);

    const { exitCode, stdout } = await terminal.snicket(['diff']);

    expect(stdout).toBe(`Exposure tenants/blue
  + management TenantRoute tenants/${routeName('haproxy')}
  + management Ingress tenants/snicket-blue.haproxy
  + tenant     Lease kube-system/snicket-owner
  + tenant     EndpointSlice default/kubernetes
  + tenant     Endpoints default/kubernetes
  + tenant     ServiceAccount kube-system/snicket-proxy
  + tenant     ConfigMap kube-system/snicket-proxy
  + tenant     Secret kube-system/snicket-proxy
  + tenant     DaemonSet kube-system/snicket-proxy
`);
    expect(exitCode).toBe(1);
  });

  test("shows the TenantRoute of Snicket's gateway", async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
    await lab.addTenant('blue');
    await lab.expose('blue');
    using terminal = new Terminal(lab.management);

    const { stdout } = await terminal.snicket(['diff', '--only', 'management']);

    expect(stdout).toBe(`Exposure tenants/blue
  + management TenantRoute tenants/${routeName('snicket')}
`);
  });

  test('keeps working endpoints of another controller until a proxy is ready', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
    const { server } = await lab.addTenant('blue');
    await lab.expose('blue');
    server.seed(
      objectOf(
        'EndpointSlice',
        { ...KUBERNETES, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
        { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.9'] }], ports: [] },
      ),
    );
    using terminal = new Terminal(lab.management);

    const { stdout } = await terminal.snicket(['diff', '--only', 'tenant']);

    expect(stdout).toContain(
      '  ~ tenant     EndpointSlice default/kubernetes (not before a proxy is ready: the endpoints that are there are not ours, and work)\n',
    );
    expect(stdout).toContain('      ~ endpoints[0].addresses[0]: 10.0.0.9 -> 100.64.64.1\n');
  });
});

describe('diff after a drift', () => {
  test('shows each field, and the operator changes exactly these', async () => {
    await using lab = await labWith(LAB_EDGES.haproxy);
    const { user } = await lab.addExposed('blue');
    await lab.stopOperator();
    const elsewhere = { endpoints: [{ addresses: ['192.0.2.1'] }] };
    await user.patch(RESOURCES.endpointSlice, KUBERNETES, 'merge', elsewhere);
    const labels = { 'app.kubernetes.io/name': null };
    await user.patch(RESOURCES.configMap, PROXY_CONFIG, 'merge', { metadata: { labels } });
    await user.delete(RESOURCES.serviceAccount, PROXY);
    using terminal = new Terminal(lab.management);
    const args = ['diff', 'blue', ...IMAGE];

    const drifted = await terminal.snicket(args);

    expect(drifted.stdout).toBe(`Exposure tenants/blue
  ~ tenant     EndpointSlice default/kubernetes
      ~ endpoints[0].addresses[0]: 192.0.2.1 -> 100.64.64.1
      + endpoints[0].conditions: {"ready":true,"serving":true,"terminating":false}
  + tenant     ServiceAccount kube-system/snicket-proxy
  ~ tenant     ConfigMap kube-system/snicket-proxy
      + metadata.labels.app.kubernetes.io/name: snicket-proxy
`);
    expect(drifted.exitCode).toBe(1);

    lab.startOperator();
    await lab.untilReconciled(1);
    await lab.stopOperator();

    expect(await terminal.snicket(args)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  test('shows only fingerprints of Secret values', async () => {
    await using lab = await labWith(LAB_EDGES.haproxy);
    const { user } = await lab.addExposed('blue');
    await lab.stopOperator();
    const data = { 'tls.key': Buffer.from('a stolen key').toString('base64') };
    await user.patch(RESOURCES.secret, PROXY, 'merge', { data });
    using terminal = new Terminal(lab.management);

    const { stdout, stderr } = await terminal.snicket(['diff', 'blue', ...IMAGE]);

    expect(stdout).toMatch(
      /^ {6}~ data\.tls\.key: \(12 bytes, sha256 [0-9a-f]{16}\) -> \(the key of the new one\)$/m,
    );
    expect(stdout).toMatch(
      /^ {6}~ data\.tls\.crt: \(\d+ bytes, sha256 [0-9a-f]{16}\) -> \(a new certificate: /m,
    );
    expect(stdout).not.toContain(data['tls.key']);
    expect(stderr).toContain(
      'note: tenants/blue: the credentials of the proxies would be reissued: the certificate or its key cannot be read (Error: error:0900006e:PEM routines:OPENSSL_internal:NO_START_LINE)',
    );
  });
});

describe('diff after a change of the spec', () => {
  test('shows the removal of fields that are no longer desired', async () => {
    await using lab = await labWith(LAB_EDGES.haproxy);
    await lab.addExposed('blue', { worker: { nodeSelector: { gpu: 'yes' } } });
    await lab.stopOperator();
    await lab.change(RESOURCES.exposure, 'blue', { spec: { worker: null } });
    using terminal = new Terminal(lab.management);

    const { exitCode, stdout } = await terminal.snicket(['diff', ...IMAGE]);

    const lines = stdout.split('\n');
    expect(lines[1]).toBe('  ~ tenant     DaemonSet kube-system/snicket-proxy');
    // The health address depends on the version of the pod.
    expect(lines.filter((line) => !/127\.\d+\.\d+\.\d+/.test(line)).slice(2)).toEqual([
      expect.stringContaining('~ metadata.annotations.snicket.dev/exposure-hash: '),
      '      - spec.template.spec.nodeSelector.gpu: yes',
      '',
    ]);
    expect(exitCode).toBe(1);
  });

  test('removes the routes of the previous driver once the new ones are used', async () => {
    await using lab = await labWith(LAB_EDGES.haproxy);
    await lab.addExposed('blue');
    await lab.stopOperator();
    await lab.applyEdge(LAB_EDGES.traefik.spec);
    using terminal = new Terminal(lab.management);

    const diff = await terminal.snicket(['diff', '--only', 'management']);
    const render = await terminal.snicket(['render', '-A', '--only', 'management']);

    expect(diff.stdout).toBe(`Exposure tenants/blue
  + management TenantRoute tenants/${routeName('traefik')}
  + management IngressRouteTCP tenants/snicket-blue
  ~ management TenantRoute tenants/${routeName('haproxy')}
      + metadata.labels.snicket.dev/previous: "true"
  - management TenantRoute tenants/${routeName('haproxy')} (not before the Exposure is Ready with the driver of its Edge: clients may still use the previous routes)
  - management Ingress tenants/snicket-blue.haproxy (not before the Exposure is Ready with the driver of its Edge: clients may still use the previous routes)
`);
    for (const { stderr } of [diff, render]) {
      expect(stderr).toContain(
        'warning: tenants/blue: PreviousRoutesRemain: Proxies and clients may still use the previous driver. Snicket deletes Ingress tenants/snicket-blue.haproxy once all conditions of the Exposure are True with driver traefik and DNS points to its Edge.\nhint: If this takes long, check the conditions of the Exposure.',
      );
    }
    expect([diff.exitCode, render.exitCode]).toEqual([1, 0]);
  });

  test('keeps the previous routes if the new Edge admits none', async () => {
    await using lab = await labWith(LAB_EDGES.haproxy);
    await lab.addExposed('blue');
    await lab.stopOperator();
    const gatewayApi = { parentRefs: [{ namespace: 'default', name: 'absent' }] };
    await lab.applyEdge({ driver: 'gateway-api', gatewayApi });
    using terminal = new Terminal(lab.management);

    const { exitCode, stdout, stderr } = await terminal.snicket(['diff', ...IMAGE]);

    expect(stdout).toBe(`Exposure tenants/blue
  + management TLSRoute tenants/snicket-blue-api
`);
    expect(stderr).toContain('error: tenants/blue: EdgeReferenceInvalid: ');
    expect(exitCode).toBe(2);
  });

  test('shows the removal of all objects of a deleted Exposure in both clusters', async () => {
    await using lab = await labWith(LAB_EDGES.haproxy);
    await lab.addExposed('blue');
    await lab.stopOperator();
    await lab.unexpose('blue');
    using terminal = new Terminal(lab.management);

    const { exitCode, stdout } = await terminal.snicket(['diff', ...IMAGE]);

    expect(stdout.split('\n').toSorted()).toEqual(
      [
        'Exposure tenants/blue',
        '  - management Ingress tenants/snicket-blue.haproxy',
        `  - management TenantRoute tenants/${routeName('haproxy')}`,
        '  - tenant     EndpointSlice default/kubernetes',
        '  - tenant     DaemonSet kube-system/snicket-proxy',
        '  - tenant     Endpoints default/kubernetes',
        '  - tenant     ServiceAccount kube-system/snicket-proxy',
        '  - tenant     ConfigMap kube-system/snicket-proxy',
        '  - tenant     Secret kube-system/snicket-proxy',
        '  - tenant     Lease kube-system/snicket-owner',
        '',
      ].toSorted(),
    );
    expect(exitCode).toBe(1);
  });
});

describe('diff reports an error for', () => {
  test('an unreachable tenant, and compares the others', async () => {
    await using lab = await labWith(LAB_EDGES.haproxy);
    await lab.addExposed('blue');
    const red = await lab.addExposed('red');
    await lab.stopOperator();
    await red.server.goDown();
    await lab.user.delete(RESOURCES.ingress, { name: 'snicket-red.haproxy', namespace: TENANTS });
    using terminal = new Terminal(lab.management);

    const { exitCode, stdout, stderr } = await terminal.snicket(['diff', '-A', ...IMAGE]);

    expect(stdout).toBe(
      'Exposure tenants/red\n  + management Ingress tenants/snicket-red.haproxy\n',
    );
    expect(stderr).toStartWith('error: tenants/red: TenantUnreachable: ');
    expect(exitCode).toBe(2);
    await red.server.comeUp();
  });

  test('a tenant of another management cluster', async () => {
    await using lab = await labWith(LAB_EDGES.haproxy);
    const { server, user } = await lab.addExposed('blue');
    await lab.stopOperator();
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: 'another-cluster/tenants/blue', renewTime };
    await user.patch(RESOURCES.lease, OWNER_LEASE, 'merge', { spec });
    await user.delete(RESOURCES.daemonSet, PROXY);
    using terminal = new Terminal(lab.management);
    const writes = server.writes().length;

    const { exitCode, stdout, stderr } = await terminal.snicket(['diff', ...IMAGE]);

    expect(stdout).toBe('');
    expect(stderr).toStartWith(
      'error: tenants/blue: TenantOwnedElsewhere: The tenant is owned by Exposure tenants/blue of management cluster another-cluster, whose Lease kube-system/snicket-owner in the tenant expires at ',
    );
    expect(exitCode).toBe(2);
    expect(server.writes().length).toBe(writes);
  });

  test('a foreign object with a name that Snicket requires', async () => {
    await using lab = await OperatorLab.start({
      hasSockets: true,
      edge: LAB_EDGES.haproxy.spec,
      isOperatorRunning: false,
    });
    lab.management.seed(
      ...LAB_EDGES.haproxy.objects,
      objectOf('Ingress', { name: 'snicket-blue.haproxy', namespace: TENANTS }, { spec: {} }),
    );
    await lab.addTenant('blue');
    await lab.expose('blue');
    using terminal = new Terminal(lab.management);

    const { exitCode, stdout, stderr } = await terminal.snicket(['diff', '--only', 'management']);

    expect(stdout).toBe(
      `Exposure tenants/blue\n  + management TenantRoute tenants/${routeName('haproxy')}\n`,
    );
    expect(stderr).toBe(
      'error: tenants/blue: NameConflict: Ingress tenants/snicket-blue.haproxy already exists and was not created by Snicket.\nhint: Delete or rename it, or choose another name for the Exposure.\n',
    );
    expect(exitCode).toBe(2);
  });
});

test('diff -o json prints the same fields with and without changes', async () => {
  await using lab = await labWith(LAB_EDGES.haproxy);
  await lab.addExposed('blue');
  await lab.addExposed('red');
  await lab.stopOperator();
  const ingress = { name: 'snicket-red.haproxy', namespace: TENANTS };
  const annotations = { 'haproxy.org/ssl-passthrough': 'false' };
  await lab.user.patch(RESOURCES.ingress, ingress, 'merge', { metadata: { annotations } });
  using terminal = new Terminal(lab.management);

  const { exitCode, stdout } = await terminal.snicket(['diff', '-A', '-o', 'json', ...IMAGE]);
  const yaml = await terminal.snicket(['diff', '-A', '-o', 'yaml', ...IMAGE]);

  expect(parse(yaml.stdout)).toEqual(JSON.parse(stdout));
  expect(JSON.parse(stdout)).toEqual({
    exposures: [
      { exposure: 'tenants/blue', changes: [], findings: [] },
      {
        exposure: 'tenants/red',
        changes: [
          {
            cluster: 'management',
            action: 'change',
            waits: false,
            apiVersion: 'networking.k8s.io/v1',
            kind: 'Ingress',
            ...ingress,
            fields: [
              {
                path: 'metadata.annotations.haproxy.org/ssl-passthrough',
                from: 'false',
                to: 'true',
              },
            ],
          },
        ],
        findings: [],
      },
    ],
  });
  expect(exitCode).toBe(1);
});
