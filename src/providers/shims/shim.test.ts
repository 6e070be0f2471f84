import { describe, expect, test } from 'bun:test';
import { parseExposureStrictly } from '../../api/objects.ts';
import type { KubeObject } from '../../kube/object.ts';
import { objectRecordOf, RECORD_ANNOTATION, recordText } from '../preparation/record.ts';
import {
  changed,
  clusterDeployment,
  newTenantControlPlane,
  k0smotronCluster,
  k0smotronControlPlane,
  ownerFor,
} from '../testing/provider-objects.ts';
import { shimFor, shimObstacle, type Shim, type ShimContext } from './shim.ts';

const NOTHING: ShimContext = { ingressNames: new Set<string>() };
const EDGE = { 'metadata.annotations': { 'snicket.dev/edge': 'shared' } };

function shim(object: KubeObject, context = NOTHING): Shim {
  const found = shimFor(object, context);
  if (found === undefined) throw new Error('it asks for nothing');
  return found;
}

function specOf({ exposure }: Shim): unknown {
  return parseExposureStrictly(exposure).spec;
}

function codes({ findings }: Shim): readonly string[] {
  return findings.map(({ code }) => code);
}

describe('an object with the annotation snicket.dev/edge', () => {
  test('has an Exposure that it owns, with the hosts of the Edge', () => {
    const { exposure, findings } = shim(changed(newTenantControlPlane('kamaji', 'blue'), EDGE));

    expect(findings).toEqual([]);
    expect(exposure as unknown).toEqual({
      apiVersion: 'snicket.dev/v1alpha1',
      kind: 'Exposure',
      metadata: {
        name: 'blue',
        namespace: 'tenants',
        labels: { 'app.kubernetes.io/managed-by': 'snicket' },
        ownerReferences: [
          {
            apiVersion: 'kamaji.clastix.io/v1alpha1',
            kind: 'TenantControlPlane',
            name: 'blue',
            uid: 'uid-of-blue',
            controller: true,
          },
        ],
      },
      spec: {
        edgeRef: { name: 'shared' },
        controlPlane: {
          type: 'Object',
          objectRef: {
            group: 'kamaji.clastix.io',
            kind: 'TenantControlPlane',
            name: 'blue',
          },
        },
      },
    });
  });

  test.each([
    newTenantControlPlane('kamaji', 'a'),
    newTenantControlPlane('steward', 'a'),
    k0smotronCluster('a'),
    k0smotronControlPlane('a'),
    clusterDeployment('a', 'any-1-0-0'),
  ])('may be of any provider: %#', (object) => {
    expect(shim(changed(object, EDGE)).exposure?.metadata.name).toBe(object.metadata.name);
  });

  test('has no Exposure on an Edge that ignores annotations, which is reported', () => {
    const object = changed(newTenantControlPlane('kamaji', 'blue'), EDGE);

    expect(shimFor(object, { ingressNames: new Set(), ignoredBy: 'shared' })).toEqual({
      isIgnored: true,
      findings: [
        {
          code: 'AnnotationIgnored',
          severity: 'error',
          message:
            'TenantControlPlane tenants/blue requests an Exposure by annotation, but Edge shared ignores annotations.',
          action:
            'Create the Exposure yourself, or set spec.annotations of Edge shared to Allowed.',
        },
      ],
    });
  });

  test('with an empty value requests the default Edge', () => {
    const object = changed(newTenantControlPlane('kamaji', 'blue'), {
      'metadata.annotations': { 'snicket.dev/edge': '' },
    });

    expect(specOf(shim(object))).not.toHaveProperty('edgeRef');
  });

  test.each([
    ['has no annotation', newTenantControlPlane('kamaji', 'blue')],
    [
      'is being deleted',
      changed(newTenantControlPlane('kamaji', 'blue'), {
        ...EDGE,
        'metadata.deletionTimestamp': 'now',
      }),
    ],
    [
      'is not an object of a provider',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    ],
    [
      'was created from a K0smotronControlPlane, with its annotations',
      changed(k0smotronCluster('amber'), {
        ...EDGE,
        'metadata.ownerReferences': [
          {
            apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
            name: 'amber-cp',
            kind: 'K0smotronControlPlane',
            uid: 'u',
          },
        ],
      }),
    ],
  ])('requests nothing if it %s', (_, object) => {
    expect(shimFor(object, NOTHING)).toBeUndefined();
  });

  test('with an invalid Exposure reports why', () => {
    const object = changed(newTenantControlPlane('kamaji', 'blue'), {
      'metadata.annotations': { 'snicket.dev/edge': 'Not A Name' },
    });

    const { exposure, findings } = shim(object);

    expect(exposure).toBeUndefined();
    expect(findings).toMatchObject([{ code: 'AnnotationIgnored' }]);
    expect(findings[0]?.message).toContain('Not A Name');
  });

  test('does not adopt an Exposure that Snicket did not generate for it', () => {
    const owner = changed(newTenantControlPlane('kamaji', 'blue'), EDGE);
    const { exposure } = shim(owner);
    const others = changed(exposure!, { 'metadata.ownerReferences': [] });

    expect(shimObstacle(undefined, owner)).toBeUndefined();
    expect(shimObstacle(exposure, owner)).toBeUndefined();
    expect(shimObstacle(others, owner)).toMatchObject({ code: 'NameConflict' });
    // A user wrote it, with an owner reference for garbage collection.
    const users = changed(exposure!, { 'metadata.labels': {} });
    expect(shimObstacle(users, owner)).toMatchObject({ code: 'NameConflict' });
  });
});

describe("a tenant of Kamaji with the addon's annotation", () => {
  const domain = { 'kamaji.clastix.io/ingress.domain': 'example.test' };
  const tenant = changed(newTenantControlPlane('kamaji', 'blue'), {
    'metadata.annotations': domain,
  });

  test('has the hosts that the addon generates', () => {
    expect(specOf(shim(tenant))).toMatchObject({
      hosts: {
        api: 'tenants-blue.k8s.example.test',
        konnectivity: 'tenants-blue.konnectivity.example.test',
      },
    });
  });

  test('has no konnectivity host without konnectivity', () => {
    const without = changed(tenant, { 'spec.addons.konnectivity': undefined });

    expect(specOf(shim(without))).toMatchObject({
      hosts: { api: 'tenants-blue.k8s.example.test' },
    });
    expect(JSON.stringify(shim(without).exposure)).not.toContain('konnectivity');
  });

  test('reports an Ingress that remains of the addon', () => {
    const found = shim(tenant, { ingressNames: new Set(['uid-of-blue']) });

    expect(found.findings).toMatchObject([
      {
        code: 'HostClaimed',
        message: expect.stringContaining('Ingress tenants/uid-of-blue'),
      },
    ]);
  });

  test.each(['Example.Test', 'example.test:443', '192.0.2.1', ''])(
    'with domain %j has no Exposure, and reports why',
    (value) => {
      const annotations = { 'kamaji.clastix.io/ingress.domain': value };
      const found = shim(changed(tenant, { 'metadata.annotations': annotations }));

      expect(found.exposure).toBeUndefined();
      expect(codes(found)).toEqual(['AnnotationIgnored']);
    },
  );

  test('with an Ingress of the provider reports both routes', () => {
    const found = shim(
      changed(tenant, {
        'spec.controlPlane.ingress': {
          hostname: 'a.example.test:443',
          ingressClassName: 'haproxy',
        },
      }),
    );

    expect(found.findings).toMatchObject([{ code: 'ProviderFeatureConflict' }]);
    expect(found.findings[0]?.message).toBe(
      'Kamaji creates Ingress tenants/blue for a.example.test (class haproxy), and Snicket creates a route for the same host.',
    );
  });
});

describe('a tenant of Steward', () => {
  const tenant = changed(newTenantControlPlane('steward', 'green'), {
    ...EDGE,
    'spec.controlPlane.ingress': {
      hostname: 'green.k8s.example.test',
      ingressClassName: 'haproxy',
      controllerType: 'haproxy',
    },
    'spec.addons.tcpProxy': {
      image: 'registry.example.test/snicket:v1',
      resources: { requests: { cpu: '10m' }, limits: { memory: '192Mi' }, claims: [] },
      hostAliases: [{ ip: '192.0.2.50', hostnames: ['green.k8s.example.test'] }],
    },
  });

  test('has its host and the settings of its proxy', () => {
    expect(specOf(shim(tenant))).toMatchObject({
      hosts: { api: 'green.k8s.example.test', konnectivity: 'green.konnectivity.example.test' },
      worker: {
        image: 'registry.example.test/snicket:v1',
        resources: { requests: { cpu: '10m' }, limits: { memory: '192Mi' } },
        hostAliases: [{ ip: '192.0.2.50', hostnames: ['green.k8s.example.test'] }],
      },
    });
    expect(codes(shim(tenant))).toEqual(['ProviderFeatureConflict', 'ProviderFeatureConflict']);
  });

  test.each([
    'ghcr.example.test/butler/steward-tcp-proxy:v0.2.0',
    'mirror.example.test/tcp-proxy@sha256:0123',
    'mirror.example.test/snicket/tcp-proxy:v1',
  ])('does not use %s, which is not an image of Snicket, and reports it', (image) => {
    const found = shim(changed(tenant, { 'spec.addons.tcpProxy': { image } }));

    expect(JSON.stringify(found.exposure)).not.toContain('image');
    expect(found.findings[1]).toMatchObject({
      code: 'ProxySettingIgnored',
      message: `Image ${image} in spec.addons.tcpProxy of TenantControlPlane tenants/green does not look like an image of Snicket, so the proxies use the image of the operator.`,
    });
  });

  test('drops invalid settings, and uses the others', () => {
    const found = shim(
      changed(tenant, {
        'spec.addons.tcpProxy': {
          resources: { limits: { memory: 'much' } },
          hostAliases: [{ ip: '192.0.2.50', hostnames: ['green.k8s.example.test'] }],
        },
      }),
    );

    expect(specOf(found)).toMatchObject({ worker: { hostAliases: [{ ip: '192.0.2.50' }] } });
    expect(found.findings[1]).toMatchObject({ code: 'ProxySettingIgnored' });
    expect(found.findings[1]?.message).toStartWith(
      'Field spec.addons.tcpProxy.resources of TenantControlPlane tenants/green is invalid in an Exposure: resources.limits.memory: invalid quantity "much": must be a quantity such as 10m, "0.5", 32Mi or 1Gi.',
    );
  });

  test('reports that devices are not claimed', () => {
    const claims = [{ name: 'gpu' }];
    const found = shim(changed(tenant, { 'spec.addons.tcpProxy': { resources: { claims } } }));

    expect(found.findings[1]?.message).toContain('spec.addons.tcpProxy.resources.claims');
  });

  test('retains the settings of a removed proxy, except those that another client has changed', () => {
    const { exposure } = shim(tenant);
    const without = changed(tenant, { 'spec.addons.tcpProxy': undefined });
    const asServed = changed(exposure!, {
      'spec.worker.resources.requests.memory': '32Mi', // a default of the CRD
      'spec.worker.image': 'registry.example.test/snicket:v2',
    });

    const retained = shim(without, { ...NOTHING, existing: asServed });
    const again = shim(without, { ...NOTHING, existing: retained.exposure! });

    expect(specOf(retained)).toMatchObject({
      worker: {
        resources: { requests: { cpu: '10m' }, limits: { memory: '192Mi' } },
        hostAliases: [{ ip: '192.0.2.50', hostnames: ['green.k8s.example.test'] }],
      },
    });
    expect((retained.exposure as { spec?: { worker?: object } }).spec?.worker).not.toHaveProperty(
      'image',
    );
    expect(again.exposure).toEqual(retained.exposure);
    expect(codes(retained)).toEqual(['ProviderFeatureConflict']);
    // An Exposure whose object never had a provider proxy retains nothing.
    const users = changed(asServed, { 'metadata.annotations': {} });
    expect(specOf(shim(without, { ...NOTHING, existing: users }))).not.toMatchObject({
      worker: { hostAliases: expect.anything() },
    });
  });
});

describe('a control plane of k0smotron', () => {
  const ingress = {
    apiHost: 'red.k8s.example.test',
    konnectivityHost: 'red.konn.example.test',
    port: 8443,
    className: 'haproxy',
    annotations: { 'haproxy.org/ssl-passthrough': 'true' },
    deploy: true,
  };
  const cluster = changed(k0smotronCluster('red'), { ...EDGE, 'spec.ingress': ingress });
  const hosts = { api: 'red.k8s.example.test', konnectivity: 'red.konn.example.test' };

  test('has its hosts, and reports the routes of both', () => {
    const found = shim(cluster, { ...NOTHING, edgePort: 443 });

    expect(specOf(found)).toMatchObject({ hosts });
    expect(found.findings).toMatchObject([
      {
        code: 'EdgePortUnsupported',
        message: expect.stringContaining(
          'Field spec.ingress.port of Cluster tenants/red is 8443, but the Edge uses 443, which kubeconfigs and workers will use.',
        ),
      },
      {
        code: 'ProviderFeatureConflict',
        message: expect.stringContaining(
          'k0smotron creates Ingress tenants/kmc-red for spec.ingress of Cluster tenants/red (class haproxy, haproxy.org/ssl-passthrough), and Snicket creates routes for the same hosts.',
        ),
      },
    ]);
  });

  test('that deploys no Ingress reports one that remains', () => {
    const quiet = changed(cluster, { 'spec.ingress.deploy': false });

    expect(codes(shim(quiet))).toEqual([]);
    expect(codes(shim(quiet, { ingressNames: new Set(['kmc-red']) }))).toEqual(['HostClaimed']);
  });

  test('under Cluster API has an Ingress with the name of its Cluster', () => {
    const controlPlane = changed(k0smotronControlPlane('amber'), {
      ...EDGE,
      'spec.ingress': ingress,
    });

    expect(shim(controlPlane).findings[0]?.message).toContain(
      'k0smotron creates Ingress tenants/kmc-amber for spec.ingress of K0smotronControlPlane tenants/amber-cp (class haproxy, haproxy.org/ssl-passthrough), and Snicket creates routes for the same hosts.',
    );
  });

  test.each(['ingress', 'controlPlane.ingress'])('of k0rdent has its hosts in %s', (place) => {
    const deployment = changed(clusterDeployment('violet', 'any-1-0-0'), {
      ...EDGE,
      [`spec.config.${place}`]: ingress,
    });

    expect(specOf(shim(deployment))).toMatchObject({ hosts });
    expect(codes(shim(deployment))).toEqual([]);
  });

  test.each([
    ['none', []],
    ['haproxy', ['ProviderFeatureConflict']],
  ])(
    'has no warning for an Ingress that no controller handles: class %p',
    (className, expected) => {
      const context = { ...NOTHING, handledClasses: new Set(['haproxy']) };
      const tenantIngress = { hostname: 'a.k8s.example.test', ingressClassName: className };
      const red = changed(cluster, { ...EDGE, 'spec.ingress': { ...ingress, className } });
      const tenants = (['kamaji', 'steward'] as const).map((provider) =>
        changed(newTenantControlPlane(provider, 'blue'), {
          ...EDGE,
          'spec.controlPlane.ingress': tenantIngress,
        }),
      );

      for (const object of [red, ...tenants])
        expect(codes(shim(object, context))).toEqual(expected);
    },
  );

  test('uses its own fields, not those that Snicket wrote for the previous Exposure', () => {
    const { exposure } = ownerFor('red');
    const fields = [
      { path: ['spec', 'ingress', 'apiHost'], wrote: [hosts.api] },
      { path: ['spec', 'ingress', 'konnectivityHost'], wrote: [hosts.konnectivity] },
    ];
    const prepared = changed(cluster, { ...EDGE, 'spec.ingress': ingress });
    const text = recordText(exposure, { objects: [objectRecordOf(prepared, fields)] }) ?? '';
    const metadata = { ...exposure.metadata, annotations: { [RECORD_ANNOTATION]: text } };
    const hostsBeside = (existing: KubeObject) =>
      (specOf(shim(prepared, { ...NOTHING, existing })) as { hosts: unknown }).hosts;

    expect(hostsBeside(exposure)).toEqual(hosts);
    expect(hostsBeside({ ...exposure, metadata })).toEqual({});
  });
});
