import { expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES, withVersion } from '../../kube/resource.ts';
import { valueAt } from '../../kube/unstructured.ts';
import { PROVIDER_RESOURCES, versionsOf } from '../../providers/provider-resources.ts';
import {
  changed,
  clusterDeployment,
  newTenantControlPlane,
} from '../../providers/testing/provider-objects.ts';
import { NON_EDGE_KINDS, type OperatorLab } from '../testing/operator-lab.ts';
import { TENANTS } from '../testing/namespaces.ts';
import { ANNOTATED, shown } from '../testing/provided-control-planes.ts';
import {
  addK0smotron,
  addK0smotronControlPlane,
  addKamaji,
  REQUESTS_EDGE,
  startProvidedLab,
} from '../testing/provided-lab.ts';

setDefaultTimeout(240_000);

const { steward: STEWARD, k0smotron: K0SMOTRON } = PROVIDER_RESOURCES;
const DEPLOYMENT_OF_VIOLET = clusterDeployment('violet', 'openstack-hosted-cp-1-0-40');

test('a Cluster of k0smotron with an annotation is patched, and restored without it', async () => {
  await using lab = await startProvidedLab();
  await addK0smotron(lab, 'red');
  const red = { name: 'red', namespace: TENANTS };
  const now = () => shown(lab.management.read(K0SMOTRON, red));
  const before = now();
  const annotated = async (value: string | null) =>
    lab.user.patch(K0SMOTRON, red, 'merge', {
      metadata: { annotations: { 'snicket.dev/edge': value } },
    });

  await annotated('shared');

  await lab.untilCondition('red', 'WorkersReady', /^True/);
  expect(lab.management.read(K0SMOTRON, red)).toMatchObject({
    spec: { ingress: { apiHost: 'tenants-red.k8s.example.test', deploy: false } },
  });
  expect(lab.routesOf('red')[0]).toMatchObject({
    type: 'API',
    backend: { service: { name: 'kmc-red', portName: 'api' } },
  });

  await annotated(null);

  await lab.until('the Exposure is gone', () => lab.exposure('red') === undefined);
  expect(now()).toEqual(before);
});

test('an unreadable or invalid Secret name does not prevent the restore of a control plane', async () => {
  await using lab = await startProvidedLab({ cleanupTimeoutMs: 4_000, resyncMs: 1_000 });
  await addK0smotron(lab, 'red', ANNOTATED);
  const red = { name: 'red', namespace: TENANTS };
  await lab.untilCondition('red', 'WorkersReady', /^True/);

  const certificateRefs = [{ type: 'ca', name: '..' }];
  await lab.user.patch(K0SMOTRON, red, 'merge', { spec: { certificateRefs } });
  await lab.untilCondition('red', 'Prepared', /^False SecretMissing: Secret tenants\/\.\./);
  lab.management.inject(
    { kind: 'error', status: 403, reason: 'Forbidden' },
    { verb: 'get', plural: 'secrets' },
    Number.POSITIVE_INFINITY,
  );
  await lab.user.patch(K0SMOTRON, red, 'merge', {
    metadata: { annotations: { 'snicket.dev/edge': null } },
  });

  await lab.until('the Exposure is gone', () => lab.exposure('red') === undefined);
  expect(lab.management.read(K0SMOTRON, red)).not.toMatchObject({ spec: { ingress: {} } });
  expect(lab.eventsOf('red')).not.toContain('CleanupIncomplete');
});

test('a control plane is prepared in the older version if only that is served', async () => {
  const older = Object.values(PROVIDER_RESOURCES).map((kind) => versionsOf(kind).at(-1)!);
  await using lab = await startProvidedLab({ resources: [...NON_EDGE_KINDS, ...older] });
  await addK0smotronControlPlane(lab, 'amber', 'v1beta1', ANNOTATED);

  const condition = await lab.untilCondition('amber-cp', 'Prepared', /^True/);

  expect(condition).toContain('ProviderFeatureConflict');
  await lab.untilCondition('amber-cp', 'WorkersReady', /^True/);
  const resource = withVersion(PROVIDER_RESOURCES.k0smotronControlPlane, 'v1beta1');
  expect(lab.read(resource, 'amber-cp')).toMatchObject({
    spec: { ingress: { apiHost: 'tenants-amber-cp.k8s.example.test', deploy: false } },
  });
});

test('a provider whose objects cannot be listed does not delay others', async () => {
  await using lab = await startProvidedLab({ isOperatorRunning: false });
  const broken = { kind: 'error', status: 500, reason: 'InternalError' } as const;
  const target = { verb: 'list', plural: K0SMOTRON.plural };
  lab.management.inject(broken, target, Number.POSITIVE_INFINITY);
  await addK0smotron(lab, 'red', ANNOTATED);
  await addKamaji(lab, 'blue', ANNOTATED);
  await lab.user.apply({
    apiVersion: RESOURCES.exposure.apiVersion,
    kind: 'Exposure',
    metadata: { name: 'red', namespace: TENANTS },
    spec: {
      edgeRef: { name: 'shared' },
      controlPlane: {
        type: 'Object',
        objectRef: { group: 'k0smotron.io', kind: 'Cluster', name: 'red' },
      },
    },
  } as KubeObject);

  lab.startOperator();

  await lab.untilCondition('blue', 'WorkersReady', /^True/);
  // Each of them can be read nevertheless.
  await lab.untilCondition('red', 'WorkersReady', /^True/);
});

test('a ClusterDeployment of k0rdent is prepared with its control plane, and both are restored', async () => {
  await using lab = await startProvidedLab();
  const { clusterDeployment: resource, k0smotronControlPlane } = PROVIDER_RESOURCES;
  await addK0smotronControlPlane(lab, 'violet', 'v1beta2');
  const { uid: _uid, resourceVersion: _version, ...metadata } = DEPLOYMENT_OF_VIOLET.metadata;
  await lab.user.apply({ ...DEPLOYMENT_OF_VIOLET, metadata }, { resource });
  const both = () => [
    shown(lab.read(resource, 'violet')),
    shown(lab.read(k0smotronControlPlane, 'violet-cp')),
  ];
  const before = both();
  const annotated = async (value: string | null) =>
    lab.change(resource, 'violet', { metadata: { annotations: { 'snicket.dev/edge': value } } });

  await annotated('shared');

  // The values are written, and Helm has not rendered them.
  await lab.untilCondition('violet', 'Prepared', /^False ChartValuesUnconfirmed/);
  await renderChart(lab);
  await lab.untilCondition('violet', 'WorkersReady', /^True/);
  const apiHost = 'tenants-violet.k8s.example.test';
  expect(lab.read(resource, 'violet')).toMatchObject({
    spec: { config: { ingress: { apiHost } } },
  });
  expect(lab.read(k0smotronControlPlane, 'violet-cp')).toMatchObject({
    spec: { externalAddress: apiHost },
  });

  await annotated(null);

  await lab.until('the Exposure is gone', () => lab.exposure('violet') === undefined);
  await renderChart(lab);
  expect(both()).toEqual(before);
});

test('the values of a chart are written where its ClusterTemplate has them', async () => {
  await using lab = await startProvidedLab();
  const { clusterDeployment: resource, clusterTemplate } = PROVIDER_RESOURCES;
  await addK0smotronControlPlane(lab, 'violet', 'v1beta2', {
    'spec.ingress': { className: 'haproxy' },
  });
  const { spec, ...deployment } = clusterDeployment('violet', 'hetzner-hosted-cp-1-3-7');
  const metadata = { name: 'violet', namespace: TENANTS, annotations: REQUESTS_EDGE };
  await lab.user.apply({ ...deployment, metadata, spec } as KubeObject, { resource });
  const condition = await lab.untilCondition('violet', 'Prepared', /^False ChartValuesUnconfirmed/);
  expect(condition).toContain('does not show the values of its chart');
  const valuesNow = () => valueAt(lab.read(resource, 'violet'), 'spec', 'config');
  expect(valuesNow()).toMatchObject({ ingress: { enabled: true } });

  const { apiVersion, kind } = clusterTemplate;
  const template = {
    apiVersion,
    kind,
    metadata: { name: 'hetzner-hosted-cp-1-3-7', namespace: TENANTS },
  };
  await lab.user.apply(template, { resource: clusterTemplate });
  const status = { config: { controlPlane: { service: { type: 'ClusterIP' } } } };
  await lab.user.patch(
    clusterTemplate,
    template.metadata,
    'merge',
    { status },
    { subresource: 'status' },
  );

  // This layout has no value for the class, so Snicket writes into the control plane itself.
  await lab.until(
    'the values are written',
    () => valueAt(valuesNow(), 'controlPlane') !== undefined,
  );
  const apiHost = 'tenants-violet.k8s.example.test';
  await lab.until(
    'the control plane is written',
    () =>
      valueAt(
        lab.read(PROVIDER_RESOURCES.k0smotronControlPlane, 'violet-cp'),
        'spec',
        'ingress',
        'deploy',
      ) === false,
  );
  expect(valuesNow()).toEqual({
    ...(spec as { readonly config: object }).config,
    controlPlane: {
      service: { type: 'ClusterIP' },
      ingress: { apiHost, konnectivityHost: 'tenants-violet.konnectivity.example.test' },
    },
  });
  await renderChart(lab, 'controlPlane');
  const prepared = await lab.untilCondition('violet', 'Prepared', /^True/);
  expect(prepared).not.toContain('ChartValuesUnconfirmed');
  await lab.untilCondition('violet', 'WorkersReady', /^True/);
});

/** Passes the ingress values of ClusterDeployment `violet` to its control plane, as Helm does. */
async function renderChart(lab: OperatorLab, ...path: readonly string[]): Promise<void> {
  const { clusterDeployment: resource, k0smotronControlPlane } = PROVIDER_RESOURCES;
  const values = valueAt(lab.read(resource, 'violet'), 'spec', 'config', ...path, 'ingress');
  const { enabled: _, ...ingress } = (values ?? {}) as { readonly enabled?: boolean };
  await lab.change(k0smotronControlPlane, 'violet-cp', {
    spec: { ingress: values === undefined ? null : ingress },
  });
}

test('settings of the tcp-proxy of Steward are copied to the Exposure, and stay when that proxy is removed', async () => {
  await using lab = await startProvidedLab();
  const { apiVersion, kind } = STEWARD;
  const green = { name: 'green', namespace: TENANTS };
  const { spec } = newTenantControlPlane('steward', 'green');
  const hostAliases = [{ ip: '192.0.2.50', hostnames: ['green.k8s.example.test'] }];
  const tcpProxy = { hostAliases, resources: { limits: { memory: '192Mi' } } };
  const worker = () => (lab.exposure('green') as { spec?: { worker?: object } })?.spec?.worker;
  const tenant = { apiVersion, kind, metadata: { ...green, annotations: REQUESTS_EDGE }, spec };
  await lab.user.apply(changed(tenant, { 'spec.addons.tcpProxy': tcpProxy }), {
    resource: STEWARD,
  });
  await lab.untilCondition('green', 'Prepared', /^False ProviderFeatureConflict/);
  expect(worker()).toMatchObject(tcpProxy);

  await lab.user.apply(tenant, { resource: STEWARD });

  await lab.untilCondition('green', 'Prepared', /^False (?!ProviderFeatureConflict)/);
  expect(worker()).toMatchObject(tcpProxy);
});
