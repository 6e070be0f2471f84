import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import { KUBERNETES } from '../../tenant/endpoints/kubernetes-endpoints.ts';
import { PROXY, PROXY_CONFIG } from '../../tenant/proxy-names.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import type { LabTenant } from '../testing/lab-tenant.ts';
import { TENANTS } from '../testing/namespaces.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

type Place = readonly [Resource, { readonly namespace: string; readonly name: string }];

const SLICE: Place = [RESOURCES.endpointSlice, KUBERNETES];
const DAEMON_SET: Place = [RESOURCES.daemonSet, PROXY];
const NOT_WATCHED: readonly Place[] = [
  [RESOURCES.endpoints, KUBERNETES],
  [RESOURCES.secret, PROXY],
  [RESOURCES.configMap, PROXY_CONFIG],
  [RESOURCES.serviceAccount, PROXY],
];

/** What a person wrote of an object: without what changes with each write. */
function contentOf(object: KubeObject | undefined): object | undefined {
  if (object === undefined) return undefined;
  const { apiVersion: _version, metadata, ...rest } = object;
  return { ...rest, status: undefined, labels: metadata.labels };
}

async function untilBack(
  lab: OperatorLab,
  tenant: LabTenant,
  place: Place,
  before: object,
): Promise<void> {
  const [resource, key] = place;
  await lab.until(`${resource.kind} ${key.name} is as before`, () =>
    Bun.deepEquals(contentOf(tenant.server.read(resource, key)), before),
  );
}

describe.concurrent('a change by another client is reverted', () => {
  test('at once, if the object is watched in the tenant', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    const places = [SLICE, DAEMON_SET];
    const before = places.map(([resource, key]) => contentOf(tenant.server.read(resource, key))!);

    for (const [resource, key] of places) await tenant.user.delete(resource, key);

    for (const [index, place] of places.entries())
      await untilBack(lab, tenant, place, before[index]!);

    const elsewhere = { endpoints: [{ addresses: ['192.0.2.1'] }] };
    await tenant.user.patch(...SLICE, 'merge', elsewhere);
    const template = { spec: { containers: [{ name: 'proxy', image: 'elsewhere.test/other' }] } };
    await tenant.user.patch(...DAEMON_SET, 'merge', { spec: { template } });

    for (const [index, place] of places.entries())
      await untilBack(lab, tenant, place, before[index]!);
  });

  test('at once, if it removes proxies from nodes', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addTenant('blue');
    await tenant.controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.expose('blue');
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    const before = contentOf(tenant.server.read(...DAEMON_SET))!;

    const required = {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
    };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    const placed = { nodeSelector: { 'gpu.example.test/is-there': 'yes' }, affinity };
    await tenant.user.patch(...DAEMON_SET, 'merge', { spec: { template: { spec: placed } } });

    await untilBack(lab, tenant, DAEMON_SET, before);
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
  });

  test('at once, if it removes the label of managed objects', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    const before = contentOf(tenant.server.read(...DAEMON_SET))!;

    const labels = { 'app.kubernetes.io/managed-by': null };
    await tenant.user.patch(...DAEMON_SET, 'merge', { metadata: { labels } });

    await untilBack(lab, tenant, DAEMON_SET, before);
  });

  test('at the next reconcile, if the object is not watched in the tenant', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const tenant = await lab.addExposed('blue');
    const before = NOT_WATCHED.map(([resource, key]) =>
      contentOf(tenant.server.read(resource, key))!,
    );

    for (const [resource, key] of NOT_WATCHED) await tenant.user.delete(resource, key);

    for (const [index, place] of NOT_WATCHED.entries()) {
      await untilBack(lab, tenant, place, before[index]!);
    }

    const damage = [{ subsets: [] }, { data: { 'tenant.key': '' } }, { data: { 'ca.crt': '' } }];
    for (const [index, patch] of damage.entries()) {
      await tenant.user.patch(...NOT_WATCHED[index]!, 'merge', patch);
    }

    for (const [index, place] of NOT_WATCHED.entries()) {
      await untilBack(lab, tenant, place, before[index]!);
    }
  });

  test.each(Object.keys(LAB_EDGES) as (keyof typeof LAB_EDGES)[])(
    'at once, where driver %s wrote it',
    async (driver) => {
      const { spec, objects, resource, name, damage } = LAB_EDGES[driver];
      await using lab = await OperatorLab.start({ edge: spec });
      lab.management.seed(...objects);
      await lab.addExposed('blue');
      const before = contentOf(lab.read(resource, name));

      await lab.user.delete(resource, { name, namespace: TENANTS });

      await lab.until('it is back', () =>
        Bun.deepEquals(contentOf(lab.read(resource, name)), before),
      );

      await lab.change(resource, name, damage);

      await lab.until('it is mended', () =>
        Bun.deepEquals(contentOf(lab.read(resource, name)), before),
      );
    },
  );

  test('at once, for the Service of a control plane with fixed addresses', async () => {
    await using lab = await OperatorLab.start({ edge: LAB_EDGES.traefik.spec });
    await lab.addTenant('blue');
    const api = ['192.0.2.1:6443'];
    const [caSecretRef, kubeconfigSecretRef] = [{ name: 'blue-ca' }, { name: 'blue-kubeconfig' }];
    await lab.expose('blue', {
      controlPlane: { type: 'Endpoints', endpoints: { api }, caSecretRef, kubeconfigSecretRef },
    });
    const service = () => lab.read(RESOURCES.service, 'snicket-blue');
    const slice = () => lab.read(RESOURCES.endpointSlice, 'snicket-blue-api-ipv4-6443');
    await lab.until('both are there', () => service() !== undefined && slice() !== undefined);
    const before = [contentOf(service()), contentOf(slice())];

    await lab.user.delete(RESOURCES.service, service()!.metadata);
    await lab.change(RESOURCES.endpointSlice, slice()!.metadata.name, { endpoints: [] });

    await lab.until('both are as before', () =>
      Bun.deepEquals([contentOf(service()), contentOf(slice())], before),
    );
    expect(service()).toBeDefined();
  });
});
