import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  exposureRoutes,
  type EndpointSlice,
  type RoutedExposure,
  type RouteFacts,
  type SliceEndpoint,
} from './exposure-routes.ts';

const HOST = 'blue.k8s.example.test';

function exposure(name: string, status: object = {}, created = '2026-01-01'): RoutedExposure {
  const api = { host: `${name}.k8s.example.test`, service: name, port: 6443, portName: 'api' };
  return {
    ...{ apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure' },
    metadata: { name, namespace: 'tenants', creationTimestamp: created },
    status: { edgeRef: { name: 'shared' }, driver: 'snicket', route: { api }, ...status },
  };
}

function slice(
  endpoints: readonly SliceEndpoint[] | null,
  rest: Partial<EndpointSlice> = {},
): EndpointSlice {
  return {
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
    metadata: { name: 'blue-1', namespace: 'tenants' },
    ...{ ports: [{ name: 'api', port: 6443 }], endpoints },
    ...rest,
  };
}

const at = (address: string, conditions: SliceEndpoint['conditions'] = {}) => ({
  ...{ addresses: [address], conditions },
});

function routesOf(facts: Partial<RouteFacts>) {
  return exposureRoutes({ exposures: [exposure('blue')], slicesOf: () => [], ...facts });
}

function endpointsOf(...slices: readonly EndpointSlice[]): readonly string[] | undefined {
  return routesOf({ slicesOf: () => slices }).routes[0]?.endpoints;
}

describe('a route', () => {
  test('leads from the host of an Exposure to the endpoints of its Service', () => {
    const asked: string[] = [];
    const slicesOf = (namespace: string, service: string) => {
      asked.push(`${namespace}/${service}`);
      return [slice([at('10.0.0.1')])];
    };

    const { routes, faults } = routesOf({ slicesOf });

    expect(routes).toEqual([
      { tenant: 'tenants/blue', host: HOST, kind: 'api', endpoints: ['10.0.0.1:6443'], limits: {} },
    ]);
    expect(faults).toEqual([]);
    expect(asked).toEqual(['tenants/blue']);
  });

  test('is there by the hosts of before too, where they are others', () => {
    const at = (host: string, portName: string) => ({ host, service: 'blue', port: 1, portName });
    const route = { api: at(HOST, 'api'), konnectivity: at('k.example.test', 'agents') };
    const formerRoute = { api: at('old.example.test', 'api'), konnectivity: route.konnectivity };

    const { routes, faults } = routesOf({ exposures: [exposure('blue', { route, formerRoute })] });

    expect(routes.map(({ host, kind }) => [host, kind])).toEqual([
      [HOST, 'api'],
      ['k.example.test', 'konnectivity'],
      ['old.example.test', 'api'],
    ]);
    expect(faults).toEqual([]);
  });

  test('by a host of before gives way to whoever has that host now, however young', () => {
    const api = { host: 'green.k8s.example.test', service: 'blue', port: 1 };
    const moved = exposure('blue', { formerRoute: { api } }, '2026-01-01');
    const heir = exposure('green', {}, '2026-02-01');

    const { routes, faults } = routesOf({ exposures: [moved, heir] });

    expect(routes.map(({ host, tenant }) => [host, tenant])).toEqual([
      [HOST, 'tenants/blue'],
      ['green.k8s.example.test', 'tenants/green'],
    ]);
    expect(faults).toEqual([]);
  });

  test('is there for konnectivity too, each by the name of its port', () => {
    const api = { host: HOST, service: 'blue', port: 6443, portName: 'api' };
    const konnectivity = { ...api, host: 'agents.example.test', port: 8132, portName: 'agents' };
    const ports = [
      { name: 'agents', port: 18132 },
      { name: 'api', port: 16443 },
    ];

    const { routes } = routesOf({
      exposures: [exposure('blue', { route: { api, konnectivity } })],
      slicesOf: () => [slice([at('10.0.0.1')], { ports })],
    });

    expect(routes.map(({ kind, endpoints }) => [kind, ...endpoints])).toEqual([
      ['api', '10.0.0.1:16443'],
      ['konnectivity', '10.0.0.1:18132'],
    ]);
  });

  test('to a port without a name goes to the one that has none', () => {
    const api = { host: HOST, service: 'blue', port: 6443 };

    const { routes } = routesOf({
      exposures: [exposure('blue', { route: { api } })],
      slicesOf: () => [slice([at('10.0.0.1')], { ports: [{ name: '', port: 6443 }] })],
    });

    expect(routes[0]?.endpoints).toEqual(['10.0.0.1:6443']);
  });

  test('is there before its tenant is', () => {
    expect(endpointsOf()).toEqual([]);
    expect(endpointsOf(slice(null))).toEqual([]);
    expect(endpointsOf(slice([at('10.0.0.1')], { ports: null }))).toEqual([]);
    expect(endpointsOf(slice([at('10.0.0.1')], { ports: [{ name: 'other', port: 1 }] }))).toEqual(
      [],
    );
  });

  test('is of those too that are about to leave this gateway', () => {
    const exposures = [
      exposure('blue', { driver: 'haproxy', formerEdge: 'shared' }),
      exposure('far', { edgeRef: { name: 'other' }, formerEdge: 'shared' }),
      exposure('red', { edgeRef: { name: 'other' }, driver: 'haproxy', formerEdge: 'third' }),
    ];
    const tenants = (edge?: string) =>
      routesOf({ exposures, edge }).routes.map(({ tenant }) => tenant);

    expect(tenants()).toEqual(['tenants/blue', 'tenants/far', 'tenants/red']);
    expect(tenants('shared')).toEqual(['tenants/blue', 'tenants/far']);
    expect(tenants('other')).toEqual(['tenants/far']);
  });

  test('is of those alone that are for this gateway', () => {
    const exposures = [
      exposure('blue'),
      exposure('green', { driver: 'haproxy' }),
      exposure('red', { route: undefined }),
      exposure('far', { edgeRef: { name: 'other' } }),
      { ...exposure('new'), status: {} },
    ];
    const tenants = (edge?: string) =>
      routesOf({ exposures, edge }).routes.map(({ tenant }) => tenant);

    expect(tenants()).toEqual(['tenants/blue', 'tenants/far']);
    expect(tenants('shared')).toEqual(['tenants/blue']);
  });
});

describe('endpoints', () => {
  test('are those that are ready, of every slice, each once and in one order', () => {
    const first = slice([at('10.0.0.2'), at('10.0.0.1', { ready: true })]);
    const second = slice([at('10.0.0.1'), at('10.0.0.3', { ready: false })]);

    expect(endpointsOf(first, second)).toEqual(['10.0.0.1:6443', '10.0.0.2:6443']);
    expect(endpointsOf(second, first)).toEqual(['10.0.0.1:6443', '10.0.0.2:6443']);
  });

  test('are those that end but still serve, if no other is ready', () => {
    const ending = at('10.0.0.1', { ready: false, serving: true, terminating: true });
    const dead = at('10.0.0.2', { ready: false, serving: false, terminating: true });

    expect(endpointsOf(slice([ending, dead]))).toEqual(['10.0.0.1:6443']);
    expect(endpointsOf(slice([ending, at('10.0.0.3')]))).toEqual(['10.0.0.3:6443']);
  });

  test('may be IPv6, and are never names', () => {
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

    const { routes, faults } = routesOf({ slicesOf: () => slices });

    expect(routes[0]?.endpoints).toEqual(['10.0.0.2:6443']);
    expect(faults).toEqual([
      `Service tenants/blue of Exposure tenants/blue has the endpoint ${text}, which cannot be dialled; it is left out`,
    ]);
  });

  test('may lack whatever a server left out', () => {
    expect(
      endpointsOf(slice([{ addresses: null }, { addresses: ['10.0.0.1'], conditions: null }])),
    ).toEqual(['10.0.0.1:6443']);
  });

  test('with several addresses are one backend', () => {
    expect(endpointsOf(slice([{ addresses: ['10.0.0.1', '10.0.0.2'] }]))).toEqual([
      '10.0.0.1:6443',
    ]);
  });
});

describe('a host that is asked for twice', () => {
  const api = { host: HOST.toUpperCase(), service: 'copy', port: 6443 };
  const copy = exposure('a-copy', { route: { api } }, '2026-02-02');

  test('leads to the older Exposure, and the other one is named', () => {
    const { routes, faults } = routesOf({ exposures: [copy, exposure('blue')] });

    expect(routes.map(({ tenant }) => tenant)).toEqual(['tenants/blue']);
    expect(faults).toEqual([
      `Exposure tenants/a-copy asks for the api host '${api.host}', which leads to tenants/blue already`,
    ]);
  });

  test('leads to the same one in whatever order they are listed', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([copy, exposure('blue'), exposure('b'), exposure('c')]),
        (all) => {
          const { routes } = routesOf({ exposures: all });

          expect(new Set(routes.map(({ host }) => host)).size).toBe(routes.length);
          const expected = routesOf({ exposures: all.toReversed() }).routes;
          expect(routes).toEqual(expected);
        },
      ),
    );
  });
});

test('a host that no client can ask for is named and left out', () => {
  const api = { host: 'no_such..host', service: 'blue', port: 6443 };

  const { routes, faults } = routesOf({ exposures: [exposure('blue', { route: { api } })] });

  expect(routes).toEqual([]);
  expect(faults[0]).toContain("asks for the api host 'no_such..host', for which no client can ask");
});
