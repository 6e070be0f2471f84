/** Tenants with invalid or missing objects. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { PROXY_CONFIG } from '../../tenant/proxy-names.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { objectOf } from '../testing/objects.ts';
import { SYSTEM_NAMESPACE, TENANTS } from '../testing/namespaces.ts';

setDefaultTimeout(240_000);

describe.concurrent('a tenant', () => {
  test('with invalid nodes does not crash the operator', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const { server } = await lab.addTenant('blue');
    server.seed(objectOf('Node', { name: 'strange' }, { status: { addresses: [null] } }));
    await lab.expose('blue', { worker: { address: 'Node' } });

    await lab.addExposed('green');

    await lab.untilCondition('blue', 'WorkersReady', /^(True|False)/);
    expect(lab.condition('green', 'WorkersReady')).toStartWith('True');
  });

  test('with invalid objects can be cleaned up', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000, cleanupTimeoutMs: 300 });
    const { server, user } = await lab.addExposed('blue');
    const labels = { labels: null } as unknown as { labels: Record<string, string> };
    await user.delete(RESOURCES.configMap, PROXY_CONFIG);
    server.seed(objectOf('ConfigMap', { ...PROXY_CONFIG, ...labels }, {}));

    await lab.unexpose('blue');

    await lab.until('gone', () => lab.statusOf('blue') === undefined);
  });

  test('that is gone permanently blocks the deletion of its Exposure for a while, which reports it', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000, cleanupTimeoutMs: 3_000 });
    const { server } = await lab.addExposed('blue');
    await server.goDown();

    await lab.unexpose('blue');

    await lab.untilCondition('blue', 'Ready', /^False CleaningUp.*cannot be used/);
    await lab.until('gone', () => lab.statusOf('blue') === undefined);
  });

  test('whose Secrets are deleted before its Exposure is cleaned up over the open link', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 60_000 });
    const { server } = await lab.addExposed('blue');
    for (const name of ['blue-ca', 'blue-kubeconfig']) {
      await lab.user.delete(RESOURCES.secret, { name, namespace: TENANTS });
    }

    await lab.unexpose('blue');

    await lab.until('gone', () => lab.statusOf('blue') === undefined);
    expect(server.read(RESOURCES.configMap, PROXY_CONFIG)).toBeUndefined();
  });
});

test('more unreachable tenants than concurrent reconciles do not delay the next one', async () => {
  await using lab = await OperatorLab.start({
    resyncMs: 60_000,
    tenantTimeoutMs: 500,
    concurrency: 2,
  });
  for (let index = 0; index < 6; index++) {
    const { server } = await lab.addTenant(`silent-${index}`);
    server.inject({ kind: 'hang' }, {}, Number.POSITIVE_INFINITY);
    await lab.expose(`silent-${index}`);
  }
  await lab.untilCondition('silent-5', 'WorkersReady', /^False TenantUnreachable/);

  await lab.addExposed('green');

  expect(lab.condition('green', 'WorkersReady')).toStartWith('True');
});

test("an edge of another kind is not at the address of Snicket's own gateway", async () => {
  const { addresses: _addresses, ...spec } = LAB_EDGES.traefik.spec as Record<string, unknown>;
  await using lab = await OperatorLab.start({ resyncMs: 1_000, edge: spec });
  lab.management.seed(
    objectOf(
      'Service',
      { name: 'snicket-gateway', namespace: SYSTEM_NAMESPACE },
      {
        spec: { clusterIP: '10.0.0.9', ports: [{ name: 'tls', port: 443 }] },
        status: { loadBalancer: { ingress: [{ ip: '203.0.113.99' }] } },
      },
    ),
  );

  await lab.addExposed('blue');

  const edge = lab.management.read(RESOURCES.edge, { name: 'shared' });
  expect(JSON.stringify(edge)).not.toContain('203.0.113.99');
});
