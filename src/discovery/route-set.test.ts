import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { TenantRoute } from '../api/tenant-route.ts';
import type { Route } from '../gateway/routes/route.ts';
import { RouteSet } from './route-set.ts';
import type { EndpointSlice } from './tenant-routes.ts';

const HOSTS = ['a.example.test', 'b.example.test', 'c.example.test'];
const SERVICES = ['one', 'two'];

interface RouteEvent {
  readonly type: 'route';
  readonly name: string;
  /** If absent, the TenantRoute is deleted. */
  readonly spec?: { readonly host: string; readonly service: string; readonly edge: string };
  readonly exposure: string;
  readonly day: number;
}

interface SliceEvent {
  readonly type: 'slice';
  readonly service: string;
  readonly address: number;
}

const routeEvent: fc.Arbitrary<RouteEvent> = fc.record({
  type: fc.constant('route' as const),
  name: fc.constantFrom('r1', 'r2', 'r3', 'r4'),
  spec: fc.option(
    fc.record({
      host: fc.constantFrom(...HOSTS),
      service: fc.constantFrom(...SERVICES),
      edge: fc.constantFrom('shared', 'other'),
    }),
    { nil: undefined },
  ) as fc.Arbitrary<NonNullable<RouteEvent['spec']>>,
  exposure: fc.constantFrom('blue', 'green'),
  day: fc.integer({ min: 1, max: 3 }),
});

const sliceEvent: fc.Arbitrary<SliceEvent> = fc.record({
  type: fc.constant('slice' as const),
  service: fc.constantFrom(...SERVICES),
  address: fc.integer({ min: 0, max: 3 }),
});

function tenantRoute(event: RouteEvent, version: number): TenantRoute {
  const { host = HOSTS[0]!, service = 'one', edge = 'shared' } = event.spec ?? {};
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'TenantRoute',
    metadata: {
      name: event.name,
      namespace: 'tenants',
      creationTimestamp: `2026-03-0${event.day}T10:00:00Z`,
      resourceVersion: String(version),
    },
    spec: {
      edgeRef: { name: edge },
      driver: 'snicket',
      exposureRef: { name: event.exposure },
      host,
      type: 'API',
      backend: { service: { name: service, port: 6443 } },
    },
  };
}

/** The routes of a gateway that applies every update. */
class Sink {
  readonly routes = new Map<string, Route>();

  apply({ set, removed }: ReturnType<RouteSet['update']>): void {
    for (const host of removed) expect(this.routes.delete(host)).toBe(true);
    for (const route of set) this.routes.set(route.host, route);
  }
}

test('any sequence of events has the same result as a new set of the final objects', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.oneof(routeEvent, sliceEvent), fc.boolean()), { maxLength: 30 }),
      (events) => {
        const slices = new Map<string, readonly EndpointSlice[]>();
        const slicesOf = (namespace: string, service: string) =>
          slices.get(`${namespace}/${service}`) ?? [];
        const set = new RouteSet({ slicesOf, edge: 'shared' });
        const sink = new Sink();
        const objects = new Map<string, TenantRoute>();
        let version = 0;

        for (const [event, isUpdated] of events) {
          version++;
          if (event.type === 'slice') {
            const service = `tenants/${event.service}`;
            slices.set(service, [sliceOf(event)]);
            set.slicesChanged(service);
          } else if (event.spec === undefined) {
            const known = objects.get(event.name);
            if (known !== undefined) set.remove(known);
            objects.delete(event.name);
          } else {
            const route = tenantRoute(event, version);
            objects.set(event.name, route);
            set.put(route);
          }
          if (isUpdated) sink.apply(set.update());
        }
        sink.apply(set.update());

        const complete = new RouteSet({ slicesOf, edge: 'shared' });
        for (const route of objects.values()) complete.put(route);
        complete.update();
        const byHost = (a: Route, b: Route) => (a.host < b.host ? -1 : 1);
        expect(set.list().toSorted(byHost)).toEqual(complete.list().toSorted(byHost));
        expect([...sink.routes.values()].toSorted(byHost)).toEqual(
          complete.list().toSorted(byHost),
        );
      },
    ),
  );
});

test('an update contains only the routes that changed', () => {
  const slices = new Map<string, readonly EndpointSlice[]>();
  const set = new RouteSet({ slicesOf: (_, service) => slices.get(service) ?? [] });
  const event = (name: string, host: string, service: string): RouteEvent => ({
    type: 'route',
    name,
    spec: { host, service, edge: 'shared' },
    exposure: name,
    day: 1,
  });
  set.put(tenantRoute(event('r1', HOSTS[0]!, 'one'), 1));
  set.put(tenantRoute(event('r2', HOSTS[1]!, 'two'), 1));
  expect(set.update().set.length).toBe(2);

  slices.set('two', [sliceOf({ type: 'slice', service: 'two', address: 5 })]);
  set.slicesChanged('tenants/two');
  set.slicesChanged('tenants/unknown');

  expect(set.update().set.map(({ host }) => host)).toEqual([HOSTS[1]!]);
  expect(set.update()).toEqual({ set: [], removed: [], newFaults: [] });
});

function sliceOf({ service, address }: SliceEvent): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${service}-1`, namespace: 'tenants' },
    addressType: 'IPv4',
    ports: [{ port: 6443 }],
    endpoints: [{ addresses: [`10.0.0.${address}`] }],
  };
}
