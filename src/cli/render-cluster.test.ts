import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { differences } from '../kube/apply/differences.ts';
import { RESOURCES, resourceOf } from '../kube/resource.ts';
import { LAB_EDGES } from '../operator/testing/edges.ts';
import { OperatorLab } from '../operator/testing/operator-lab.ts';
import { SYSTEM_NAMESPACE } from '../operator/testing/namespaces.ts';
import { Terminal } from './testing/snicket.ts';
import { documentsIn } from './testing/yaml-objects.ts';

setDefaultTimeout(240_000);

describe('render from a cluster', () => {
  test('prints the objects of the operator, and sends only GET requests', async () => {
    const { spec, objects } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ hasSockets: true, edge: spec });
    lab.management.seed(...objects);
    const { server } = await lab.addExposed('blue');
    await lab.stopOperator();
    using terminal = new Terminal(lab.management);
    const before = [lab.management.requests().length, server.requests().length] as const;

    const { exitCode, stdout, stderr } = await terminal.snicket([
      ...['render', 'tenants/blue', '--show-secrets', '--proxy-image', 'snicket.test/snicket:1'],
    ]);

    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    const documents = documentsIn(stdout);
    expect(documents).toHaveLength(9);
    for (const [index, document] of documents.entries()) {
      const cluster = index < 2 ? lab.management : server;
      const live = cluster.read(resourceOf(document), document.metadata);
      expect(differences(document, live)).toEqual([]);
    }
    const requests = [
      ...lab.management.requests().slice(before[0]),
      ...server.requests().slice(before[1]),
    ];
    expect(requests.length).toBeGreaterThan(10);
    expect(new Set(requests.map(({ verb }) => verb))).toEqual(
      new Set(['list', 'read', 'get', 'watch']),
    );
  });

  test('notes that a certificate would be issued, and issues none', async () => {
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
    const writes = lab.writes();

    const first = await terminal.snicket(['render', 'blue', '--show-secrets']);
    const second = await terminal.snicket(['render', 'blue', '--show-secrets']);

    expect(first.stderr).toBe(
      'note: tenants/blue: the credentials of the proxies would be reissued: there is no certificate yet\n',
    );
    expect(first.stdout).toContain('tls.crt: "(a new certificate: there is no certificate yet)"\n');
    expect(second).toEqual(first);
    expect(first.exitCode).toBe(0);
    expect(lab.writes()).toBe(writes);
  });

  test('notes that a key would be derived, and derives none', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
    await lab.addTenant('blue');
    await lab.expose('blue');
    using terminal = new Terminal(lab.management);
    const writes = lab.writes();

    const { stdout } = await terminal.snicket(['render']);

    expect(stdout).toContain(
      '  tenant.key: "(a new key: Secret snicket-system/snicket-gateway-keys, which the operator creates, does not exist yet)"\n',
    );
    expect(stdout).toContain('# management cluster: TenantRoute tenants/blue-');
    expect(lab.writes()).toBe(writes);
  });

  test('uses the address in the kubeconfig if the Service is not reachable', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
    const { port } = await lab.addTenant('blue');
    await lab.expose('blue');
    // Nothing listens there.
    const clusterIPs = ['127.255.255.254'];
    await lab.change(RESOURCES.service, 'blue', { spec: { clusterIP: clusterIPs[0], clusterIPs } });
    using terminal = new Terminal(lab.management);

    const { exitCode, stdout } = await terminal.snicket(['render']);

    expect(stdout).toContain('# tenant cluster: DaemonSet kube-system/snicket-proxy\n');
    expect(stdout).toContain(`is routed to port ${port} of Service blue\n`);
    expect(exitCode).toBe(0);
  });

  test('uses the edge if no other address reaches the tenant', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, hasGateway: true });
    const { kubeconfig, port } = await lab.addExposed('blue');
    await lab.untilCondition('blue', 'Reachable', /^True/);
    await lab.stopOperator();
    const clusterIPs = ['127.255.255.254'];
    await lab.change(RESOURCES.service, 'blue', { spec: { clusterIP: clusterIPs[0], clusterIPs } });
    const unreachableKubeconfig = kubeconfig.replace(`localhost:${port}`, '127.255.255.254:6443');
    await lab.changeSecret('blue-kubeconfig', { 'admin.conf': unreachableKubeconfig });
    using terminal = new Terminal(lab.management);

    const { exitCode, stdout, stderr } = await terminal.snicket(['render']);

    expect(stderr).toBe('');
    expect(stdout).toContain('# tenant cluster: DaemonSet kube-system/snicket-proxy\n');
    expect(exitCode).toBe(0);
  });

  test('prints the management objects of an unreachable tenant, and reports the error', async () => {
    const { spec, objects } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({
      hasSockets: true,
      edge: spec,
      isOperatorRunning: false,
    });
    lab.management.seed(...objects);
    const { server } = await lab.addTenant('blue');
    await lab.expose('blue');
    await server.goDown();
    using terminal = new Terminal(lab.management);

    const withTenant = await terminal.snicket(['render', 'blue']);
    const one = await terminal.snicket(['render', 'blue', '--only', 'management']);
    const values = await terminal.snicket(['render', 'blue', '--values']);

    expect(withTenant.stderr).toStartWith(
      "error: tenants/blue: TenantUnreachable: The tenant's API server does not answer: ",
    );
    expect(withTenant.stdout).toContain(
      '# management cluster: Ingress tenants/snicket-blue.haproxy\n',
    );
    expect(withTenant.stdout).toEndWith('---\n# tenant cluster: not known yet\n');
    expect(withTenant.exitCode).toBe(1);
    expect(one.stderr).toBe('');
    expect(one.exitCode).toBe(0);
    expect(values.stderr).toBe('');
    expect(values.exitCode).toBe(0);
    await server.comeUp();
  });

  test('uses the proxy image of the operator in the cluster', async () => {
    await using lab = await OperatorLab.start({
      hasSockets: true,
      isOperatorRunning: false,
      resources: [
        ...Object.values(RESOURCES),
        { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
      ],
    });
    await lab.addTenant('blue');
    await lab.expose('blue');
    const container = {
      args: ['operator', '--proxy-image=$(SNICKET_IMAGE)'],
      env: [{ name: 'SNICKET_IMAGE', value: 'registry.example.com/snicket:7' }],
    };
    lab.management.seed({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'snicket-operator', namespace: SYSTEM_NAMESPACE },
      spec: { template: { spec: { containers: [container] } } },
    });
    using terminal = new Terminal(lab.management);

    const { stdout } = await terminal.snicket(['render']);

    expect(stdout).toContain('image: registry.example.com/snicket:7\n');
  });
});

test('uses the proxy image of its own pod in the pod of the operator', async () => {
  await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
  await lab.addTenant('blue');
  await lab.expose('blue');
  using terminal = new Terminal(lab.management);
  const refusal = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
  lab.management.inject(refusal, { plural: 'deployments' }, 10);

  const image = { SNICKET_IMAGE: 'registry.example.com/snicket:8' };
  const { stdout, stderr } = await terminal.snicket(['render', 'tenants/blue'], '', image);

  expect(stdout).toContain('image: registry.example.com/snicket:8\n');
  expect(stderr).not.toContain('Deployment');
});

test('operator --dry-run prints the plans of all Exposures, writes nothing and exits', async () => {
  await using lab = await OperatorLab.start({ hasSockets: true, isOperatorRunning: false });
  await lab.addTenant('blue');
  await lab.addTenant('red');
  await lab.expose('blue');
  await lab.expose('red');
  using terminal = new Terminal(lab.management);
  const writes = lab.writes();

  const { exitCode, stdout } = await terminal.snicket(['operator', '--dry-run']);

  const heads = stdout.split('\n').filter((line) => line.startsWith('# Exposure'));
  expect(heads).toEqual([
    '# Exposure tenants/blue: Edge shared, driver snicket, mode Passthrough',
    '# Exposure tenants/red: Edge shared, driver snicket, mode Passthrough',
  ]);
  expect(exitCode).toBe(0);
  expect(lab.writes()).toBe(writes);
});
