import { expect, test } from 'bun:test';
import type { TenantRoute } from '../api/tenant-route.ts';
import { parseTenantRoute } from '../api/objects.ts';
import { planExposure } from './plan.ts';
import { isTenantRoute, withCurrentBackend } from './tenant-routes.ts';
import { tenantRoute } from './testing/tenant-routes.ts';
import { edge, exposure, facts } from './testing/wishes.ts';

function routesOf(spec = {}, edgeSpec = {}): readonly TenantRoute[] {
  const wish = { exposure: exposure(spec), edge: edge(edgeSpec) };
  return (planExposure(wish, facts()).management ?? []).filter(isTenantRoute);
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

test('has a name of its own for each host, Edge and driver, and the same one every time', () => {
  const names = (spec = {}, edgeSpec = {}) =>
    routesOf(spec, edgeSpec).map(({ metadata }) => metadata.name);

  const all = [
    ...names(),
    ...names({ hosts: { api: 'x.test' } }),
    ...names({}, { driver: 'nginx' }),
  ];

  expect(new Set(all).size).toBe(5); // the host of konnectivity is the same in the first two
  expect(names()).toEqual(names());
});

test('a previous one leads where the current one of its type does', () => {
  const { routes } = planExposure({ exposure: exposure(), edge: edge() }, facts());
  const backend = { service: { name: 'gone', port: 1 } };
  const previous = tenantRoute('blue', 'old.test', {}, { backend });
  const { konnectivity: _, ...apiOnly } = routes!;

  expect(withCurrentBackend(previous, routes!)?.spec).toMatchObject({
    host: 'old.test',
    backend: { service: { name: 'blue', port: 6443 } },
  });
  const agents = tenantRoute('blue', 'old.test', {}, { type: 'Konnectivity' });
  expect(withCurrentBackend(agents, apiOnly)).toBeUndefined();
});
