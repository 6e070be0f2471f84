import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import type { DaemonSet } from '../../tenant/pod.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { TENANTS } from '../testing/namespaces.ts';

setDefaultTimeout(240_000);

const OTHER_IMAGE = 'elsewhere.test/other';
const NEVER = { resyncMs: 3_600_000 };

function looks(lab: OperatorLab): number {
  return lab.number('reconciles_total', 'controller="exposure"');
}

/** Waits until the first probe is reported, and nothing was reconciled for a while. */
async function untilAtRest(lab: OperatorLab): Promise<void> {
  await lab.untilCondition('blue', 'Reachable', /^(True|False)/);
  let before: number;
  do {
    before = looks(lab);
    await lab.environment.pass(10_000);
  } while (looks(lab) !== before);
}

describe.concurrent('a reconcile is caused by', () => {
  test('a status that another client writes, which is reverted at once', async () => {
    await using lab = await OperatorLab.start(NEVER);
    await lab.addExposed('blue');
    await untilAtRest(lab);
    const before = lab.statusOf('blue');

    await lab.user.patch(
      RESOURCES.exposure,
      { name: 'blue', namespace: TENANTS },
      'merge',
      { status: { endpoint: 'elsewhere.test:443', mode: null } },
      { subresource: 'status' },
    );

    await lab.until('the status is as before', () => Bun.deepEquals(lab.statusOf('blue'), before));
  });

  test('an IngressClass, for Exposures of its Edges only', async () => {
    const { spec, objects } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ ...NEVER, edge: spec });
    lab.management.seed(...objects);
    await lab.addExposed('blue');
    await untilAtRest(lab);
    const before = looks(lab);

    const other = { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass' };
    const controller = { spec: { controller: 'example.test/other' } };
    await lab.user.create(RESOURCES.ingressClass, {
      ...other,
      metadata: { name: 'other' },
      ...controller,
    });
    await untilAtRest(lab);

    expect(looks(lab)).toBe(before);
  });

  test('a node, but not by its heartbeat', async () => {
    await using lab = await OperatorLab.start(NEVER);
    const { controllers, user } = await lab.addTenant('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.expose('blue', { worker: { address: 'Node' } });
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    await untilAtRest(lab);
    const before = looks(lab);

    for (const lastHeartbeatTime of ['2026-11-16T00:00:00Z', '2026-11-16T00:00:10Z']) {
      const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime }];
      const node = { name: 'worker-1' };
      await user.patch(RESOURCES.node, node, 'merge', { status: { conditions } });
    }
    await untilAtRest(lab);

    expect(looks(lab)).toBe(before);
  });

  test('changes in a tenant, at most twice a second, including the last one', async () => {
    await using lab = await OperatorLab.start(NEVER);
    const { user, server } = await lab.addExposed('blue');
    await untilAtRest(lab);
    const before = looks(lab);
    const { clock } = lab.environment;
    const beginMs = clock.nowMs();

    for (let count = 0; count < 200; count++) {
      const annotations = { churn: String(count) };
      await user.patch(RESOURCES.daemonSet, PROXY, 'merge', { metadata: { annotations } });
      await lab.environment.pass(20);
    }
    const template = { spec: { containers: [{ name: 'proxy', image: OTHER_IMAGE }] } };
    await user.patch(RESOURCES.daemonSet, PROXY, 'merge', { spec: { template } });

    await lab.until('the last change is reverted', () => {
      const daemonSet = server.read(RESOURCES.daemonSet, PROXY) as unknown as DaemonSet;
      return daemonSet.spec.template.spec.containers[0]?.image !== OTHER_IMAGE;
    });
    const seconds = (clock.nowMs() - beginMs) / 1000;
    expect(looks(lab) - before).toBeLessThanOrEqual(4 + 2 * seconds);
  });
});

test('a successful start records one event and no warning', async () => {
  await using lab = await OperatorLab.start({ hasGateway: true, probeMs: 60_000 });
  const { controllers } = await lab.addTenant('blue');
  await controllers.addNode('worker-1', ['10.0.0.1']);

  await lab.expose('blue');

  await lab.untilCondition('blue', 'Ready', /^True/);
  await lab.until('an event', () => lab.eventsOf('blue').length > 0);
  expect(lab.eventsOf('blue')).toEqual(['Ready']);
});
