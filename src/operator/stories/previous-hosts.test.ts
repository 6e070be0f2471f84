import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { TENANTS } from '../testing/namespaces.ts';

setDefaultTimeout(240_000);

const BLUE = { name: 'blue', namespace: TENANTS };

function hostsOf(lab: OperatorLab): readonly string[] {
  return lab.tenantRoutes().map(({ spec }) => spec.host);
}

/** Exposes tenant blue by a host, and waits for its TenantRoute. */
async function exposeBy(lab: OperatorLab, host: string): Promise<void> {
  await lab.expose('blue', { hosts: { api: host } });
  await lab.until(`${host} is routed`, () => hostsOf(lab).includes(host));
}

describe.concurrent('the hosts that an Exposure has moved away from', () => {
  test('are the oldest, which clients use, and the newest, which proxies use', async () => {
    await using lab = await OperatorLab.start();
    await lab.addTenant('blue');
    for (let move = 0; move < 8; move++) {
      await exposeBy(lab, `h${move}.example.test`);
      await lab.environment.pass(1_000);
    }

    const left = [0, 1, 5, 6, 7].map((move) => `h${move}.example.test`);
    await lab.until('some are left', () => Bun.deepEquals(hostsOf(lab).toSorted(), left));
  });

  test('stay while an Edge moves to another domain', async () => {
    await using lab = await OperatorLab.start();
    await lab.addExposed('blue');
    const host = 'tenants-blue.k8s.example.test';
    expect(hostsOf(lab)).toContain(host);

    const spec = { domain: 'other.test' };
    await lab.user.patch(RESOURCES.edge, { name: 'shared' }, 'merge', { spec });

    const moved = 'tenants-blue.k8s.other.test';
    await lab.until('it is routed by the new host', () => hostsOf(lab).includes(moved));
    await lab.environment.pass(60_000);
    expect(hostsOf(lab)).toContain(host);
  });

  test('go when the Edge does not allow them any more', async () => {
    await using lab = await OperatorLab.start();
    await lab.addTenant('blue');
    await exposeBy(lab, 'admin.example.test');
    await exposeBy(lab, 'a.tenants.example.test');
    expect(hostsOf(lab)).toContain('admin.example.test');

    const spec = { allowedHosts: ['*.tenants.example.test'] };
    await lab.user.patch(RESOURCES.edge, { name: 'shared' }, 'merge', { spec });

    await lab.until('one host is left', () => hostsOf(lab).join() === 'a.tenants.example.test');
  });
});

test('the hosts of an Exposure that was deleted without cleanup are free', async () => {
  await using lab = await OperatorLab.start();
  const { server } = await lab.addTenant('blue');
  await exposeBy(lab, 'bank.example.test');
  await lab.untilCondition('blue', 'WorkersReady', /^True/);
  server.inject({ kind: 'hang' }, {});

  // As kubectl delete --cascade=orphan does, with the finalizers removed by hand.
  await lab.user.delete(RESOURCES.exposure, BLUE);
  for (const { metadata } of lab.tenantRoutes()) {
    const patch = { metadata: { ownerReferences: null } };
    await lab.user.patch(RESOURCES.tenantRoute, metadata, 'merge', patch);
  }
  await lab.user.patch(RESOURCES.exposure, BLUE, 'merge', { metadata: { finalizers: null } });

  await lab.until('no TenantRoute is left', () => hostsOf(lab).length === 0);
  expect(lab.exposure('blue')).toBeUndefined();
});
