import { describe, expect, test } from 'bun:test';
import { DRIVERS, type Driver } from '../api/edge.ts';
import type { KubeObject } from '../kube/object.ts';
import { driverFor } from './driver-for.ts';
import { previousRoutes, previousRoutesFinding } from './previous-routes.ts';
import { BLUE, edge, serving, SPECS } from './testing/blue.ts';

function routesBy(driver: Driver): readonly KubeObject[] {
  return driverFor(driver).objects(BLUE, edge(SPECS[driver]), serving());
}

const service: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'snicket-blue', namespace: 'tenants' },
};

describe.each(DRIVERS.filter((driver) => driver !== 'contour'))(
  'after a change from %s',
  (from) => {
    test('to contour, its routes are the previous routes, and nothing else', () => {
      const routes = routesBy(from);

      expect(previousRoutes([service, ...routes], edge(SPECS.contour))).toEqual(routes);
    });
  },
);

test('an Ingress is a previous route if that of the new driver has another class', () => {
  const routes = routesBy('haproxy');

  expect(previousRoutes(routes, edge(SPECS.nginx))).toEqual(routes);
});

test('an Ingress is not a previous route if the new one may be on the same edge', () => {
  const haproxy = { className: 'haproxy' };

  for (const ingress of [haproxy, undefined]) {
    const shared = edge({ driver: 'haproxy-ingress', ingress });
    expect(previousRoutes(routesBy('haproxy'), shared)).toEqual([]);
  }
});

test('routes of the current driver are not previous routes', () => {
  for (const driver of DRIVERS) {
    expect(previousRoutes(routesBy(driver), edge(SPECS[driver]))).toEqual([]);
  }
});

test('a kind in another version of its group is the same kind', () => {
  const older = routesBy('gateway-api').map((route) => ({
    ...route,
    apiVersion: 'gateway.networking.k8s.io/v1alpha2',
  }));

  expect(previousRoutes(older, edge(SPECS['gateway-api']))).toEqual([]);
  expect(previousRoutes(older, edge(SPECS.haproxy))).toEqual(older);
});

describe('the finding about previous routes', () => {
  test('names the objects, the reason and when they are deleted', () => {
    expect(previousRoutesFinding(routesBy('haproxy'), edge(SPECS.traefik))).toEqual({
      code: 'PreviousRoutesRemain',
      severity: 'warning',
      message:
        'Proxies and clients may still use the previous driver. Snicket deletes Ingress tenants/snicket-blue.haproxy once all conditions of the Exposure are True with driver traefik and DNS points to its Edge.',
      action: 'If this takes long, check the conditions of the Exposure.',
    });
  });

  test('is absent if there are none', () => {
    expect(previousRoutesFinding([], edge(SPECS.traefik))).toBeUndefined();
  });
});
