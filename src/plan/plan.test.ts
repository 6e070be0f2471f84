import { describe, expect, test } from 'bun:test';
import { objectText, type KubeObject } from '../kube/object.ts';
import type { Finding } from '../api/finding.ts';
import { isTenantRoute } from './tenant-routes.ts';
import { planExposure, type Plan } from './plan.ts';
import { CONTROL_PLANE, edge, exposure, facts, LEAF, TENANT_KEY } from './testing/inputs.ts';

const ENDPOINTS = {
  controlPlane: {
    type: 'Endpoints',
    endpoints: { api: ['10.0.0.5:6443'], konnectivity: ['10.0.0.5:8132'] },
    caSecretRef: { name: 'ca' },
    kubeconfigSecretRef: { name: 'kubeconfig' },
  },
};

function codes({ findings }: Plan): readonly string[] {
  return findings.map(({ about, code }) => `${about}: ${code}`);
}

/** The names of the objects, without TenantRoutes, which `tenant-routes.test.ts` covers. */
function texts(objects: readonly KubeObject[] | undefined): readonly string[] | undefined {
  return objects?.filter((object) => !isTenantRoute(object)).map(objectText);
}

test('a tenant with all facts known has routes and proxies', () => {
  const plan = planExposure({ exposure: exposure(), edge: edge() }, facts());

  expect(plan).toMatchObject({
    mode: 'Terminate',
    endpoint: 'tenants-blue.k8s.example.com:443',
    routes: {
      api: {
        host: 'tenants-blue.k8s.example.com',
        service: 'blue',
        port: 6443,
        portName: 'kube-apiserver',
      },
      konnectivity: { host: 'tenants-blue.konnectivity.example.com', port: 8132 },
    },
    findings: [],
  });
  expect(texts(plan.management)).toEqual(['Ingress tenants/snicket-blue.haproxy']);
  expect(texts(plan.tenant)).toContain('DaemonSet kube-system/snicket-proxy');
});

test('the proxies connect to the port and addresses of the edge by host', () => {
  const shared = edge({ port: 8443 });

  const { tenant } = planExposure({ exposure: exposure(), edge: shared }, facts());

  const config = JSON.stringify(tenant?.find(({ kind }) => kind === 'ConfigMap'));
  expect(config).toContain('203.0.113.10:8443');
});

test('a plan has routes before the tenant is known', () => {
  const controlPlane = { service: CONTROL_PLANE.service };
  const early = facts({ controlPlane, tenant: undefined, credentials: undefined });

  const plan = planExposure({ exposure: exposure(), edge: edge() }, early);

  expect(texts(plan.management)).toEqual(['Ingress tenants/snicket-blue.haproxy']);
  expect(plan.tenant).toBeUndefined();
  expect(plan.findings).toEqual([]);
});

test('nothing changes until the control plane is found', () => {
  const plan = planExposure(
    { exposure: exposure(), edge: edge() },
    facts({ controlPlane: undefined }),
  );

  expect(plan).toMatchObject({ endpoint: 'tenants-blue.k8s.example.com:443', findings: [] });
  expect(plan).not.toContainAnyKeys(['routes', 'management', 'tenant']);
});

test('a host that cannot be generated changes nothing', () => {
  const plan = planExposure({ exposure: exposure(), edge: edge({ domain: undefined }) }, facts());

  expect(codes(plan)).toEqual(['spec: HostMissing']);
  expect(plan).not.toContainAnyKeys(['routes', 'management', 'tenant']);
});

describe('a host that another Exposure owns is not routed', () => {
  const finding: Finding = {
    code: 'HostConflict',
    severity: 'error',
    message: 'tenants-blue.k8s.example.com is already used by Exposure tenants/other',
    action: 'choose another host or delete that one',
  };
  const planWith = (keepsRoutes: boolean) =>
    planExposure(
      { exposure: exposure(), edge: edge() },
      facts({ conflict: { ...finding, keepsRoutes } }),
    );

  test('and previous routes are removed if the other Exposure owns one of their hosts', () => {
    const plan = planWith(false);

    expect(plan.findings).toEqual([{ ...finding, about: 'spec' }]);
    expect(plan.management).toEqual([]);
    expect(plan).not.toContainAnyKeys(['routes', 'tenant']);
  });

  test('and previous routes stay while no other Exposure owns their hosts', () => {
    const plan = planWith(true);

    expect(plan.findings).toEqual([{ ...finding, about: 'spec' }]);
    expect(plan.management).toBeUndefined();
    expect(plan).not.toContainAnyKeys(['routes', 'tenant']);
  });
});

test('an Exposure that its Edge does not allow has no routes, and previous ones are removed', () => {
  const selector = { matchLabels: { team: 'others' } };
  const shared = edge({ allowedNamespaces: { from: 'Selector', selector } });

  const plan = planExposure({ exposure: exposure(), edge: shared }, facts());

  expect(codes(plan)).toEqual(['spec: NamespaceNotAllowed']);
  expect(plan.management).toEqual([]);
  expect(plan).not.toContainAnyKeys(['hosts', 'endpoint', 'routes', 'tenant']);
});

describe('the mode', () => {
  test("is Passthrough behind Snicket's gateway", () => {
    const plan = planExposure(
      { exposure: exposure(), edge: edge({ driver: 'snicket' }) },
      facts({ credentials: TENANT_KEY }),
    );

    expect(plan.mode).toBe('Passthrough');
    expect(texts(plan.management)).toEqual([]);
    expect(JSON.stringify(plan.tenant)).toContain('--mode=passthrough');
  });

  test('Passthrough is rejected with other drivers, and existing objects stay', () => {
    const desired = { exposure: exposure({ worker: { mode: 'Passthrough' } }), edge: edge() };

    const plan = planExposure(desired, facts({ credentials: TENANT_KEY }));

    expect(codes(plan)).toEqual(['spec: OptionNotSupported']);
    expect(plan).not.toContainAnyKeys(['routes', 'management', 'tenant']);
  });

  test('Terminate is rejected without the key of the CA', () => {
    const controlPlane = { ...CONTROL_PLANE, ca: { certificate: 'certificate of the CA\n' } };

    const plan = planExposure(
      { exposure: exposure(), edge: edge() },
      facts({ controlPlane, credentials: undefined }),
    );

    expect(codes(plan)).toEqual(['tenant: CaKeyMissing']);
    expect(plan.tenant).toBeUndefined();
  });

  test('Terminate needs no key of the CA if there is a certificate', () => {
    const controlPlane = { ...CONTROL_PLANE, ca: { certificate: 'certificate of the CA\n' } };

    const plan = planExposure({ exposure: exposure(), edge: edge() }, facts({ controlPlane }));

    expect(codes(plan)).toEqual([]);
    expect(plan.tenant).toBeDefined();
  });

  test.each([
    ['haproxy', TENANT_KEY],
    ['snicket', LEAF],
  ])('with driver %s waits for credentials of its mode', (driver, credentials) => {
    const desired = { exposure: exposure(), edge: edge({ driver }) };

    expect(planExposure(desired, facts({ credentials })).tenant).toBeUndefined();
  });
});

describe('konnectivity', () => {
  test('has no route if the control plane has no konnectivity', () => {
    const { name, api } = CONTROL_PLANE.service;
    const controlPlane = { ...CONTROL_PLANE, service: { name, api } };

    const plan = planExposure({ exposure: exposure(), edge: edge() }, facts({ controlPlane }));

    expect(plan.routes).not.toHaveProperty('konnectivity');
    expect(plan.findings).toEqual([]);
  });

  test('without a host has a finding', () => {
    const desired = {
      exposure: exposure({ hosts: { api: 'blue.example.com' } }),
      edge: edge({ domain: undefined }),
    };

    const plan = planExposure(desired, facts());

    expect(plan.routes).not.toHaveProperty('konnectivity');
    expect(codes(plan)).toEqual(['routes: HostMissing']);
  });
});

test('a control plane of type Endpoints has a Service, and routes to it', () => {
  const plan = planExposure({ exposure: exposure(ENDPOINTS), edge: edge() }, facts());

  expect(texts(plan.management)).toEqual([
    'Service tenants/snicket-blue',
    'EndpointSlice tenants/snicket-blue-api-ipv4-6443',
    'EndpointSlice tenants/snicket-blue-konnectivity-ipv4-8132',
    'Ingress tenants/snicket-blue.haproxy',
  ]);
  expect(plan.routes?.api).toMatchObject({ service: 'snicket-blue', port: 6443, portName: 'api' });
});

test('every object of the management cluster is owned by the Exposure', () => {
  const { management } = planExposure({ exposure: exposure(ENDPOINTS), edge: edge() }, facts());

  for (const { metadata } of management ?? []) {
    expect(metadata.labels).toMatchObject({
      'app.kubernetes.io/managed-by': 'snicket',
      'snicket.dev/exposure': 'blue',
    });
    expect(metadata.ownerReferences).toEqual([
      {
        apiVersion: 'snicket.dev/v1alpha1',
        kind: 'Exposure',
        name: 'blue',
        uid: 'uid-of-blue',
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
  }
});

test('an Exposure in a file owns no objects', () => {
  const desired = { exposure: exposure({}, { uid: undefined }), edge: edge() };

  const { management } = planExposure(desired, facts());

  expect(management?.[0]?.metadata).not.toHaveProperty('ownerReferences');
});
