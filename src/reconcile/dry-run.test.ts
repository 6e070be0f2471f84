import { expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { ManagementSnapshot } from '../management/management-snapshot.ts';
import { objectOf } from '../operator/testing/objects.ts';
import { dryRun } from './dry-run.ts';
import { createWorld, IMAGE, PLAIN_WORLD } from './testing/generated-worlds.ts';

const EDGE = objectOf(
  'Edge',
  { name: 'shared' },
  { spec: { driver: 'snicket', domain: 'a.test' } },
);
const PORTS = [{ name: 'api', port: 6443, protocol: 'TCP' }];
const AT = { name: 'blue', namespace: 'tenants' };
const SERVICE = objectOf('Service', AT, { spec: { clusterIP: '10.0.0.1', ports: PORTS } });

function exposure(name: string): KubeObject {
  const controlPlane = {
    type: 'Service',
    service: { name: 'blue', apiPort: 6443 },
    caSecretRef: { name: 'blue-ca' },
    kubeconfigSecretRef: { name: 'blue-kubeconfig' },
  };
  const metadata = { name, namespace: 'tenants', uid: `uid-of-${name}`, resourceVersion: '7' };
  return objectOf('Exposure', metadata, { spec: { edgeRef: { name: 'shared' }, controlPlane } });
}

test('shows the rollout of a new release', async () => {
  const { spec } = PLAIN_WORLD;
  const past = { spec, image: 'snicket.test/snicket:1', reconciles: 2, drifts: [] };
  const lab = await createWorld({ ...PLAIN_WORLD, past });

  const { changes } = await lab.dryRun(IMAGE);

  const [set] = changes.tenant.filter(({ object }) => object.kind === 'DaemonSet');
  expect(set).toMatchObject({ action: 'change', waits: false });
  expect(set?.fields.map(({ to }) => to)).toContain(IMAGE);
});

test('does not change the TenantRoutes of the observed management cluster', async () => {
  const blue = exposure('blue');
  const management = new ManagementSnapshot([EDGE, SERVICE, blue], { has: () => true });
  const deps = { management, namespace: 'snicket-system', proxyImage: 'a', readsTenants: false };

  const { changes } = await dryRun(blue, deps, new AbortController().signal);

  const { tenantRoute } = RESOURCES;
  expect(changes.management.map(({ object }) => object.kind)).toEqual([tenantRoute.kind]);
  expect(management.tenantRoutes.list()).toEqual([]);
});
