import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { makeCa } from '../pki/testing/test-ca.ts';
import { capiK0smotron } from './capi-k0smotron.ts';
import { serviceName } from './k0s/control-plane.ts';
import { k0smotron } from './k0smotron.ts';
import type { K0smotronPatch } from './k0s/patches.ts';
import { pasteText, planPreparations } from './preparation/plan-preparation.ts';
import type { PreparationSpec } from './preparation/preparation.ts';
import type { Provider } from './provider.ts';
import {
  capiCluster,
  changed,
  k0smotronCluster,
  k0smotronControlPlane,
  kubeconfigFor,
  secretOf,
  serviceOf,
  ownerFor,
} from './testing/provider-objects.ts';
import { objectsFrom } from './testing/provider-objects-source.ts';

const CA = await makeCa();
const SPEC: PreparationSpec = {
  hosts: { api: 'red.k8s.example.test', konnectivity: 'red.konnectivity.example.test' },
  port: 443,
};

const LEFT = (name: string) => [
  secretOf(`${name}-ca`, { 'tls.crt': CA.certificate, 'tls.key': CA.key }),
  secretOf(`${name}-kubeconfig`, { value: kubeconfigFor('https://red.k8s.example.test:443') }),
  serviceOf(`kmc-${name}`, { api: 30443, konnectivity: 30132 }),
];

function plan(object: KubeObject, spec: PreparationSpec = SPEC, provider: Provider = k0smotron) {
  const [found] = planPreparations(
    [object],
    (bases) => provider.prepare(bases, spec),
    ownerFor('red'),
  );
  if (found === undefined) throw new Error('one object has one plan');
  return found;
}

describe('a Cluster of k0smotron', () => {
  test('is read completely, with the Service in its kubeconfig', async () => {
    const cluster = k0smotronCluster('red');

    const { provided, ...reading } = await k0smotron.read(cluster, objectsFrom(LEFT('red')));

    expect(reading.findings).toEqual([]);
    expect(reading.controlPlane?.service).toEqual({
      name: 'kmc-red',
      api: { port: 30443, portName: 'api' },
      konnectivity: { port: 30132, portName: 'konnectivity' },
    });
    expect(reading.kubeconfig).toContain('server: https://kmc-red.tenants.svc:30443\n');
    expect(provided).toEqual({
      provider: 'k0smotron',
      objects: [cluster],
      phase: 'serving',
      phaseReason: '1 of its pods are ready',
      version: 'v1.34.1-k0s.0',
      serviceCidrs: ['10.128.0.0/16'],
      clusterDomain: 'cluster.local',
      hasKonnectivity: true,
      publishedServer: 'https://red.k8s.example.test:443',
      names: expect.objectContaining({
        service: 'kmc-red',
        ports: { api: 30_443, konnectivity: 30_132 },
      }),
    });
  });

  test('has a route before its kubeconfig exists', async () => {
    const cluster = changed(k0smotronCluster('red'), { 'status.readyReplicas': undefined });
    const left = LEFT('red').filter(({ metadata }) => metadata.name !== 'red-kubeconfig');

    const reading = await k0smotron.read(cluster, objectsFrom(left));

    expect(reading.controlPlane?.service.name).toBe('kmc-red');
    expect(reading.provided?.phase).toBe('provisioning');
    expect(reading.findings).toMatchObject([
      {
        message: 'Secret tenants/red-kubeconfig does not exist.',
        action: expect.stringContaining('Wait for k0smotron (0 of its pods are ready).'),
      },
    ]);
  });

  test.each([
    ['ClusterIP', 'red', 'kmc-red'],
    ['NodePort', 'red', 'kmc-red-nodeport'],
    ['LoadBalancer', 'red', 'kmc-red-lb'],
    ['ClusterIP', 'r'.repeat(59), `kmc-${'r'.repeat(59)}`],
    ['ClusterIP', 'r'.repeat(60), `kmc-${'r'.repeat(53)}-7f0b9`],
  ])('of type %s and name %s has the Service %s', (type, name, expected) => {
    expect(serviceName(name, type)).toBe(expected);
  });

  test('without konnectivity-server has no konnectivity route', async () => {
    const cluster = changed(k0smotronCluster('red'), {
      'spec.controlPlaneFlags': ['--v=2', '--disable-components=autopilot,konnectivity-server'],
    });

    const { controlPlane } = await k0smotron.read(cluster, objectsFrom(LEFT('red')));

    expect(controlPlane?.service.konnectivity).toBeUndefined();
  });
});

describe('a K0smotronControlPlane', () => {
  test('uses the name and the networks of its Cluster', async () => {
    const cluster = k0smotronCluster('amber');
    const objects = objectsFrom([...LEFT('amber'), cluster, capiCluster('amber')]);

    const reading = await capiK0smotron.read(k0smotronControlPlane('amber'), objects);

    expect(reading.findings).toEqual([]);
    expect(reading.controlPlane?.service.name).toBe('kmc-amber');
    expect(reading.provided).toMatchObject({
      provider: 'capi-k0smotron',
      phase: 'serving',
      clusterDomain: 'amber.local',
      serviceCidrs: ['10.140.0.0/16', 'fd00:1::/108'],
    });
  });

  test('uses its label while it has no owner, and has no names without both', async () => {
    const orphan = changed(k0smotronControlPlane('amber'), { 'metadata.ownerReferences': [] });
    const labeled = changed(orphan, {
      'metadata.labels': { 'cluster.x-k8s.io/cluster-name': 'amber' },
    });
    const objects = objectsFrom(LEFT('amber'));

    const known = await capiK0smotron.read(labeled, objects);
    const unknown = await capiK0smotron.read(orphan, objects);

    expect(known.controlPlane?.service.name).toBe('kmc-amber');
    expect(known.provided?.phase).toBe('provisioning');
    expect(unknown.controlPlane).toBeUndefined();
    expect(unknown.findings).toMatchObject([{ code: 'ControlPlaneInactive' }]);
  });

  test('is written directly, with the same fields as a Cluster', () => {
    const direct = plan(k0smotronCluster('red'));
    const other = plan(k0smotronControlPlane('red'), SPEC, capiK0smotron);

    expect(other.live.metadata.name).toBe('red-cp');
    expect(other.fields).toEqual(direct.fields);
  });
});

function patchesIn({ fields }: ReturnType<typeof plan>): readonly K0smotronPatch[] {
  const { wanted } = fields.at(-1) ?? {};
  return Array.isArray(wanted) ? (wanted as readonly K0smotronPatch[]) : [];
}

describe('k0smotron behind an edge', () => {
  test('creates no Ingress and no proxy', () => {
    const found = plan(k0smotronCluster('red'));
    const text = pasteText(found);

    expect(found.findings).toEqual([]);
    expect(text).toStartWith(`apiVersion: k0smotron.io/v1beta2
kind: Cluster
metadata:
  name: red
  namespace: tenants
spec:
  ingress:
    deploy: false
    apiHost: red.k8s.example.test
    konnectivityHost: red.konnectivity.example.test
    port: 443
  externalAddress: red.k8s.example.test
  patches:
    - target:
        kind: ConfigMap
        component: ingress
      patch:
        type: merge
`);
    const [proxyPatch, endpointPatch] = patchesIn(found);
    expect(JSON.parse(proxyPatch?.patch.content ?? '')).toEqual({
      data: {
        '0_temp-kubernetes-ep.yaml': expect.stringContaining('skip-mirror: "true"'),
        '1_haproxy-configmap.yaml': null,
        '2_haproxy-ds.yaml': null,
        '3_kube-service.yaml': null,
      },
    });
    expect(JSON.parse(endpointPatch?.patch.content ?? '').data['endpoint.yaml']).toContain(
      'apiServerHost: red.k8s.example.test\n  apiServerPort: "443"\n',
    );
  });

  test('has the same initial endpoints for every tenant, since k0s rewrites changed ones', () => {
    const seed = (spec: PreparationSpec) =>
      JSON.stringify(patchesIn(plan(k0smotronCluster('red'), spec))[0]);

    expect(seed(SPEC)).toBe(seed({ hosts: { ...SPEC.hosts, api: 'x.example.test' }, port: 1 }));
  });

  test("keeps the user's external address and patches", () => {
    const userValues = {
      target: { kind: 'Service', component: 'control-plane' },
      patch: { type: 'merge', content: 'metadata: {labels: {a: b}}' },
    };
    const cluster = changed(k0smotronCluster('red'), {
      'spec.externalAddress': 'vip.example.test',
      'spec.patches': [userValues],
    });

    const { fields } = plan(cluster);

    expect(fields.map(({ path }) => path.at(-1))).not.toContain('externalAddress');
    expect(fields.at(-1)?.wanted).toMatchObject([userValues, { target: { component: 'ingress' } }]);
  });

  test.each([
    [
      { 'spec.version': 'v1.33.5-k0s.0' },
      'VersionUnsupported',
      'error',
      'Version v1.33.5-k0s.0 (spec.version of Cluster tenants/red) is too old: k0s supports a port in the external address of the API, so that kubeconfigs and join tokens point to the edge since v1.31.13, v1.32.10, v1.33.6, v1.34.1. The documentation of k0smotron lists v1.34.1, v1.33.5, v1.32.9 and v1.31.13, but k0s v1.33.5 and v1.32.9 reject an address with a port.',
    ],
    [{ 'spec.version': undefined }, 'VersionUnsupported', 'error', 'has no spec.version'],
    [
      { 'spec.version': 'latest' },
      'VersionUnsupported',
      'warning',
      'Version "latest" (spec.version of Cluster tenants/red) is invalid, so it is unknown whether this k0s supports a port in the external address of the API, so that kubeconfigs and join tokens point to the edge.',
    ],
    [
      { 'spec.k0sConfig.spec.api.sans': ['red.k8s.example.test:443'] },
      'FieldInvalid',
      'error',
      'Field spec.k0sConfig.spec.api.sans of Cluster tenants/red contains "red.k8s.example.test:443", but names in certificates have no port.',
    ],
    [
      { 'spec.externalAddress': 'red.k8s.example.test:443' },
      'FieldInvalid',
      'error',
      'spec.externalAddress of Cluster tenants/red',
    ],
    [
      { 'spec.remoteHostCluster': { kubeconfigRef: { name: 'x' } } },
      'ControlPlaneRemote',
      'error',
      'in another cluster',
    ],
    [
      { apiVersion: 'k0smotron.io/v1beta1' },
      'ProviderFeatureConflict',
      'warning',
      'k0smotron.io/v1beta1',
    ],
    [
      { 'spec.ingress': { apiHost: 'a.example.test', konnectivityHost: 'b.example.test' } },
      'HostClaimed',
      'warning',
      'k0smotron created an Ingress for Cluster tenants/red and does not delete it when spec.ingress.deploy is false.',
    ],
    [{ 'spec.service.type': 'NodePort' }, 'ServiceTypeNotNeeded', 'warning', 'is NodePort'],
  ])('reports the obstacles of %j', (fields, code, severity, message) => {
    const { findings } = plan(changed(k0smotronCluster('red'), fields));

    expect(findings).toMatchObject([{ code, severity }]);
    expect(findings[0]?.message).toContain(message);
  });

  test('of an old version of its API gets no patches', () => {
    const cluster = changed(k0smotronCluster('red'), { apiVersion: 'k0smotron.io/v1beta1' });

    expect(plan(cluster).fields.map(({ path }) => path.join('.'))).not.toContain('spec.patches');
  });
});
