import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

const RESTLESS = { resyncMs: 4_000, probeMs: 60_000 };

async function untilSteady(lab: OperatorLab): Promise<void> {
  await lab.untilQuiet(6);
  const before = lab.writes();

  await lab.untilReconciled(10);

  expect(lab.writes()).toBe(before);
}

describe.concurrent('nothing is written to any API once everything is up to date', () => {
  test('behind the gateway, with proxies that pass TLS through', async () => {
    await using lab = await OperatorLab.start({ ...RESTLESS, hasGateway: true });
    const { controllers } = await lab.addTenant('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.expose('blue');

    await lab.untilCondition('blue', 'Ready', /^True Ready/);

    await untilSteady(lab);
  });

  test.each<[keyof typeof LAB_EDGES, object]>([
    ['haproxy', {}],
    ['gateway-api', { worker: { directInjection: true } }],
  ])('behind %s, with proxies that end TLS', async (driver, spec) => {
    const { spec: edge, objects } = LAB_EDGES[driver];
    await using lab = await OperatorLab.start({ ...RESTLESS, edge });
    lab.management.seed(...objects);

    await lab.addExposed('blue', { ...spec });

    await untilSteady(lab);
  });

  test('with proxies at the addresses of their nodes', async () => {
    await using lab = await OperatorLab.start(RESTLESS);
    const { controllers } = await lab.addTenant('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await controllers.addNode('worker-2', ['10.0.0.2'], false);
    await lab.expose('blue', { worker: { address: 'Node' } });

    await lab.untilCondition('blue', 'WorkersReady', /^False ProxiesNotReady/);

    await untilSteady(lab);
  });

  test('for a control plane with fixed addresses', async () => {
    await using lab = await OperatorLab.start(RESTLESS);
    const { port } = await lab.addTenant('blue');
    const api = [`127.0.0.2:${port}`];
    const [caSecretRef, kubeconfigSecretRef] = [{ name: 'blue-ca' }, { name: 'blue-kubeconfig' }];
    await lab.expose('blue', {
      controlPlane: { type: 'Endpoints', endpoints: { api }, caSecretRef, kubeconfigSecretRef },
    });

    await lab.untilCondition('blue', 'Routed', /^False FieldInvalid/);

    await untilSteady(lab);
  });

  test('while an Exposure is refused', async () => {
    await using lab = await OperatorLab.start(RESTLESS);
    await lab.addExposed('blue');
    await lab.addTenant('green');
    await lab.expose('green', { hosts: { api: 'tenants-blue.k8s.example.test' } });

    await lab.untilCondition('green', 'Accepted', /^False HostConflict/);

    await untilSteady(lab);
  });
});
