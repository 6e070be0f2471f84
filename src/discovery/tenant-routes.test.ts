import { describe, expect, test } from 'bun:test';
import type { TenantRoute, TenantRouteSpec } from '../api/tenant-route.ts';
import {
  hostRoute,
  type EndpointSlice,
  type HostFacts,
  type SliceEndpoint,
} from './tenant-routes.ts';

const HOST = 'blue.k8s.example.test';

/** A TenantRoute of an Exposure for {@link HOST}. */
function tenantRoute(
  exposure: string,
  spec: Partial<TenantRouteSpec> = {},
  created = '2026-01-01T00:00:00Z',
): TenantRoute {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'TenantRoute',
    metadata: { name: `${exposure}-1`, namespace: 'tenants', creationTimestamp: created },
    spec: {
      edgeRef: { name: 'shared' },
      driver: 'snicket',
      exposureRef: { name: exposure },
      host: HOST,
      type: 'API',
      backend: { service: { name: exposure, port: 6443, portName: 'api' } },
      ...spec,
    },
  };
}

function slice(
  endpoints: readonly SliceEndpoint[] | null,
  rest: Partial<EndpointSlice> = {},
): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    metadata: { name: 'blue-1', namespace: 'tenants' },
    ports: [{ name: 'api', port: 6443 }],
    endpoints,
    ...rest,
  };
}

const at = (address: string, conditions: SliceEndpoint['conditions'] = {}) => ({
  addresses: [address],
  conditions,
});

function resultOf(facts: Partial<HostFacts> = {}) {
  const tenantRoutes = [tenantRoute('blue')];
  return hostRoute({ host: HOST, tenantRoutes, slicesOf: () => [], ...facts });
}

function endpointsOf(...slices: readonly EndpointSlice[]): readonly string[] | undefined {
  return resultOf({ slicesOf: () => slices }).route?.endpoints;
}

describe('a route', () => {
  test('has the host of a TenantRoute and the endpoints of its Service', () => {
    const asked: string[] = [];
    const slicesOf = (namespace: string, service: string) => {
      asked.push(`${namespace}/${service}`);
      return [slice([at('10.0.0.1')])];
    };

    const { route, faults } = resultOf({ slicesOf });

    expect(route).toEqual({
      tenant: 'tenants/blue',
      host: HOST,
      kind: 'api',
      endpoints: ['10.0.0.1:6443'],
      limits: {},
    });
    expect(faults).toEqual([]);
    expect(asked).toEqual(['tenants/blue']);
  });

  test('to konnectivity uses the port of that name', () => {
    const backend = { service: { name: 'blue', port: 8132, portName: 'agents' } };
    const ports = [
      { name: 'agents', port: 18132 },
      { name: 'api', port: 16443 },
    ];

    const { route } = resultOf({
      tenantRoutes: [tenantRoute('blue', { type: 'Konnectivity', backend })],
      slicesOf: () => [slice([at('10.0.0.1')], { ports })],
    });

    expect(route).toMatchObject({ kind: 'konnectivity', endpoints: ['10.0.0.1:18132'] });
  });

  test('without a port name uses the unnamed port', () => {
    const { route } = resultOf({
      tenantRoutes: [tenantRoute('blue', { backend: { service: { name: 'blue', port: 6443 } } })],
      slicesOf: () => [slice([at('10.0.0.1')], { ports: [{ name: '', port: 6443 }] })],
    });

    expect(route?.endpoints).toEqual(['10.0.0.1:6443']);
  });

  test('has the limits and allowed sources of its TenantRoute', () => {
    const limits = { maxConnections: 5, newConnectionsPerSecond: 2 };
    const allowedSources = ['10.0.0.0/8', '10.0.0.1/8'];

    const { route, faults } = resultOf({
      tenantRoutes: [tenantRoute('blue', { limits, allowedSources })],
    });

    expect(route).toMatchObject({
      limits: { connections: 5, connectionsPerSecond: 2 },
      allowedSources: ['10.0.0.0/8'],
    });
    expect(faults).toEqual([
      'TenantRoute tenants/blue-1 has an invalid allowed source 10.0.0.1/8, which allows nothing',
    ]);
  });

  test('cannot raise the limits of the gateway', () => {
    const limits = { maxConnections: 1_000_000, newConnectionsPerSecond: 1_000_000 };
    const tenantRoutes = [tenantRoute('blue', { limits })];
    const of = (connections: number, connectionsPerSecond: number) =>
      resultOf({ tenantRoutes, maxLimits: { connections, connectionsPerSecond } }).route?.limits;

    expect(of(2000, 200)).toEqual({ connections: 2000, connectionsPerSecond: 200 });
    expect(of(0, 200)).toEqual({ connections: 1_000_000, connectionsPerSecond: 200 });
  });

  test('exists before its Service has endpoints', () => {
    expect(endpointsOf()).toEqual([]);
    expect(endpointsOf(slice(null))).toEqual([]);
    expect(endpointsOf(slice([at('10.0.0.1')], { ports: null }))).toEqual([]);
    expect(endpointsOf(slice([at('10.0.0.1')], { ports: [{ name: 'other', port: 1 }] }))).toEqual(
      [],
    );
  });

  test.each([
    ['another driver', { driver: 'haproxy' }, undefined, false],
    ['this Edge', {}, 'shared', true],
    ['another Edge', { edgeRef: { name: 'other' } }, 'shared', false],
    [
      'another Edge, for a gateway that serves all Edges',
      { edgeRef: { name: 'other' } },
      undefined,
      true,
    ],
  ] as const)('of %s', (_, spec, edge, isServed) => {
    const { route, faults } = resultOf({ tenantRoutes: [tenantRoute('blue', spec)], edge });

    expect(route !== undefined).toBe(isServed);
    expect(faults).toEqual([]);
  });
});

describe('endpoints', () => {
  test('are the ready ones of every slice, each once and sorted', () => {
    const first = slice([at('10.0.0.2'), at('10.0.0.1', { ready: true })]);
    const second = slice([at('10.0.0.1'), at('10.0.0.3', { ready: false })]);

    expect(endpointsOf(first, second)).toEqual(['10.0.0.1:6443', '10.0.0.2:6443']);
    expect(endpointsOf(second, first)).toEqual(['10.0.0.1:6443', '10.0.0.2:6443']);
  });

  test('are terminating ones that still serve if none is ready', () => {
    const ending = at('10.0.0.1', { ready: false, serving: true, terminating: true });
    const dead = at('10.0.0.2', { ready: false, serving: false, terminating: true });

    expect(endpointsOf(slice([ending, dead]))).toEqual(['10.0.0.1:6443']);
    expect(endpointsOf(slice([ending, at('10.0.0.3')]))).toEqual(['10.0.0.3:6443']);
  });

  test('can be IPv6 addresses, but not names', () => {
    const six = slice([at('fd00::1')], { addressType: 'IPv6' });
    const name = slice([at('api.example.test')], { addressType: 'FQDN' });

    expect(endpointsOf(six, name)).toEqual(['[fd00::1]:6443']);
  });

  test.each([
    ['port 0', { ports: [{ name: 'api', port: 0 }] }, '10.0.0.1:0'],
    ['a port beyond all', { ports: [{ name: 'api', port: 70_000 }] }, '10.0.0.1:70000'],
    ['an address with leading zeros', { endpoints: [at('010.0.0.1')] }, '010.0.0.1:6443'],
  ])('with %s are left out and named, and the others stay', (_, rest, text) => {
    const slices = [slice([at('10.0.0.1')], rest), slice([at('10.0.0.2')])];

    const { route, faults } = resultOf({ slicesOf: () => slices });

    expect(route?.endpoints).toEqual(['10.0.0.2:6443']);
    expect(faults).toEqual([
      `Service tenants/blue of Exposure tenants/blue has an invalid endpoint ${text}, which is ignored`,
    ]);
  });

  test('can lack optional fields', () => {
    expect(
      endpointsOf(slice([{ addresses: null }, { addresses: ['10.0.0.1'], conditions: null }])),
    ).toEqual(['10.0.0.1:6443']);
  });

  test('with several addresses count as one backend', () => {
    expect(endpointsOf(slice([{ addresses: ['10.0.0.1', '10.0.0.2'] }]))).toEqual([
      '10.0.0.1:6443',
    ]);
  });
});

describe('a host with TenantRoutes of two Exposures', () => {
  const copy = tenantRoute('a-copy', {}, '2026-02-02T00:00:00Z');
  const blue = tenantRoute('blue');

  test('belongs to the Exposure of the oldest TenantRoute, and the other TenantRoute is a fault', () => {
    for (const tenantRoutes of [
      [copy, blue],
      [blue, copy],
    ]) {
      const { route, faults } = resultOf({ tenantRoutes });

      expect(route?.tenant).toBe('tenants/blue');
      expect(faults).toEqual([
        `TenantRoute tenants/a-copy-1 is ignored: host ${HOST} belongs to Exposure tenants/blue`,
      ]);
    }
  });

  test('is not served by the gateway of an Edge that has only the younger TenantRoute', () => {
    const otherRoute = tenantRoute('blue', { edgeRef: { name: 'other' }, driver: 'haproxy' });

    const { route, faults } = resultOf({ tenantRoutes: [otherRoute, copy], edge: 'shared' });

    expect(route).toBeUndefined();
    expect(faults.length).toBe(1);
  });
});

test('an invalid host is a fault', () => {
  const host = 'no_such..host';

  const { route, faults } = resultOf({ host, tenantRoutes: [tenantRoute('blue', { host })] });

  expect(route).toBeUndefined();
  expect(faults[0]).toContain('TenantRoute tenants/blue-1 has an invalid host no_such..host');
});
