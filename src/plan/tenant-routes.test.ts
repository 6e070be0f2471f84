import { describe, expect, test } from 'bun:test';
import type { TenantRoute } from '../api/tenant-route.ts';
import { parseTenantRoute } from '../api/objects.ts';
import { planExposure } from './plan.ts';
import { isTenantRoute, unenforcedPolicy, withCurrentBackend } from './tenant-routes.ts';
import { tenantRoute } from './testing/tenant-routes.ts';
import { edge, exposure, facts } from './testing/inputs.ts';

function routesOf(spec = {}, edgeSpec = {}): readonly TenantRoute[] {
  const desired = { exposure: exposure(spec), edge: edge(edgeSpec) };
  return (planExposure(desired, facts()).management ?? []).filter(isTenantRoute);
}

test.each(['snicket', 'haproxy', 'gateway-api'])(
  'driver %s has a TenantRoute for each host',
  (driver) => {
    const gateway = { gatewayApi: { parentRefs: [{ namespace: 'default', name: 'shared' }] } };
    const routes = routesOf({}, { driver, ...(driver === 'gateway-api' && gateway) });

    expect(routes.map(({ spec }) => spec)).toEqual([
      {
        edgeRef: { name: 'shared' },
        driver,
        exposureRef: { name: 'blue' },
        host: 'tenants-blue.k8s.example.com',
        type: 'API',
        backend: { service: { name: 'blue', port: 6443, portName: 'kube-apiserver' } },
      },
      {
        edgeRef: { name: 'shared' },
        driver,
        exposureRef: { name: 'blue' },
        host: 'tenants-blue.konnectivity.example.com',
        type: 'Konnectivity',
        backend: { service: { name: 'blue', port: 8132, portName: 'konnectivity-server' } },
      },
    ] as never);
    for (const route of routes) expect(parseTenantRoute(route)).toEqual(route);
  },
);

test('belongs to its Exposure', () => {
  for (const { metadata } of routesOf()) {
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'Exposure', name: 'blue' }]);
    expect(metadata.labels).toMatchObject({ 'snicket.dev/exposure': 'blue' });
  }
});

test('has a unique and stable name for each host, Edge and driver', () => {
  const names = (spec = {}, edgeSpec = {}) =>
    routesOf(spec, edgeSpec).map(({ metadata }) => metadata.name);

  const all = [
    ...names(),
    ...names({ hosts: { api: 'x.example.com' } }),
    ...names({}, { driver: 'nginx' }),
  ];

  expect(new Set(all).size).toBe(5); // the konnectivity host is the same in the first two
  expect(names()).toEqual(names());
});

test('a previous TenantRoute gets the backend of the current one with the same type', () => {
  const { routes } = planExposure({ exposure: exposure(), edge: edge() }, facts());
  const backend = { service: { name: 'gone', port: 1 } };
  const previous = tenantRoute('blue', 'old.test', {}, { backend });
  const { konnectivity: _, ...apiOnly } = routes!;

  const limited = exposure({ limits: { maxConnections: 3 } });
  expect(withCurrentBackend(previous, routes!, limited)?.spec).toMatchObject({
    host: 'old.test',
    backend: { service: { name: 'blue', port: 6443 } },
    limits: { maxConnections: 3 },
  });
  const agents = tenantRoute('blue', 'old.test', {}, { type: 'Konnectivity' });
  expect(withCurrentBackend(agents, apiOnly, exposure())).toBeUndefined();
});

describe('limits and allowed sources of an Exposure', () => {
  const policy = {
    limits: { maxConnections: 2000, newConnectionsPerSecond: 200 },
    access: { allowedSources: ['10.0.0.0/8', 'fd00::/8'] },
  };

  test('are copied to each of its TenantRoutes', () => {
    const routes = routesOf(policy, { driver: 'snicket' });

    expect(routes.length).toBe(2);
    for (const route of routes) {
      expect(route.spec.limits).toEqual(policy.limits);
      expect(route.spec.allowedSources).toEqual(policy.access.allowedSources);
      expect(parseTenantRoute(route)).toEqual(route);
    }
  });

  test('cause a warning if the driver does not enforce them', () => {
    const desired = { exposure: exposure(policy), edge: edge({ driver: 'haproxy' }) };

    const { findings } = planExposure(desired, facts());

    expect(findings).toContainEqual({
      about: 'routes',
      code: 'PolicyNotEnforced',
      severity: 'warning',
      message:
        'Edge shared has driver haproxy, which does not enforce spec.limits and spec.access.allowedSources.',
      action: expect.any(String),
    });
    expect(unenforcedPolicy(desired.exposure, edge({ driver: 'snicket' }))).toBeUndefined();
    expect(unenforcedPolicy(exposure({ limits: {}, access: {} }), desired.edge)).toBeUndefined();
  });
});

test.each(['10.0.0.0/8', '203.0.113.7/32', '0.0.0.0/0', 'fd00::/8', '::/0'])(
  '%s is a network that an Exposure may allow',
  (network) => {
    const { access } = exposure({ access: { allowedSources: [network] } }).spec;

    expect(access?.allowedSources).toEqual([network]);
  },
);

test.each([
  '10.0.0.1/8',
  '10.0.0.0',
  '10.0.0.0/33',
  'fd00::1/8',
  'example.com',
  '::ffff:10.0.0.0/104',
  '10.0.0.0/08',
])('rejects %s as a network', (network) => {
  expect(() => exposure({ access: { allowedSources: [network] } })).toThrow('invalid network');
});
