import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Route } from './route.ts';
import { RouteTable, TooManyRoutes } from './route-table.ts';

function route(host: string, change: Partial<Route> = {}): Route {
  return { tenant: 't', host, kind: 'api', endpoints: ['10.0.0.1:1'], limits: {}, ...change };
}

/**
 * Slots are in use if they are in the set; wiped slots are listed. All threads are up to date unless `use` says
 * otherwise.
 */
function table(slots = 8) {
  const inUse = new Set<number>();
  const wiped: number[] = [];
  const use = {
    isUpToDate: true,
    isInUse: (slot: number) => inUse.has(slot),
    wipe: (slot: number) => wiped.push(slot),
  };
  return { table: new RouteTable(slots, use), inUse, wiped, use };
}

function slotsOf(of: RouteTable) {
  return Object.fromEntries(of.routes().map((assigned) => [assigned.route.host, assigned.slot]));
}

test('returns only what changed', () => {
  const { table: of } = table();
  of.replace([route('a'), route('b'), route('c')]);

  const changed = route('b', { endpoints: ['10.0.0.2:1'] });
  const changes = of.replace([route('a'), changed, route('d')]);

  expect(changes).toEqual({
    set: [
      { slot: 1, route: changed },
      { slot: 3, route: route('d') },
    ],
    removed: [2],
  });
  expect(of.replace([route('d'), changed, route('a')])).toEqual({ set: [], removed: [] });
});

test.each<[string, Partial<Route>]>([
  ['no endpoints', { endpoints: [] }],
  ['a limit of connections', { limits: { connections: 3 } }],
  ['a limit of their rate', { limits: { connectionsPerSecond: 3 } }],
])('keeps the slot of a host that gets %s', (_what, change) => {
  const { table: of } = table();
  of.replace([route('a')]);

  const changes = of.replace([route('a', change)]);

  expect(changes).toEqual({ set: [{ slot: 0, route: route('a', change) }], removed: [] });
});

test('gives a host that goes to another tenant a new slot: the counts are not that one’s', () => {
  const { table: of } = table();
  of.replace([route('a')]);

  const changes = of.replace([route('a', { tenant: 'other' })]);

  expect(changes.removed).toEqual([0]);
  expect(changes.set.map(({ slot }) => slot)).toEqual([1]);
});

test('uses a slot again when its last connection is over, wiped, and not before', () => {
  const { table: of, inUse, wiped } = table(2);
  of.replace([route('a'), route('b')]);
  inUse.add(0);
  of.replace([route('b')]);

  const early = of.replace([route('b'), route('c')]);
  expect(early).toEqual({ set: [], removed: [] });
  expect(of.waiting).toBe(1);

  inUse.clear();
  of.replace([route('b'), route('c')]);
  expect(of.waiting).toBe(0);
  expect(wiped).toEqual([0]);
  expect(slotsOf(of)).toEqual({ b: 1, c: 0 });
});

test('uses a slot again when every thread knows that its route is gone, and not before', () => {
  const { table: of, use, wiped } = table(1);
  of.replace([route('a')]);
  use.isUpToDate = false;
  of.replace([]);

  of.replace([route('b')]);
  expect(of.waiting).toBe(1);
  expect(wiped).toEqual([]);

  use.isUpToDate = true;
  of.replace([route('b')]);
  expect(slotsOf(of)).toEqual({ b: 0 });
  expect(wiped).toEqual([0]);
});

test('returns its slot to a route that is added again, with its connections and counts', () => {
  const { table: of, inUse, use, wiped } = table(2);
  of.replace([route('a'), route('b')]);
  inUse.add(1);
  use.isUpToDate = false;
  of.replace([]);

  const changes = of.replace([route('b'), route('a')]);

  expect(slotsOf(of)).toEqual({ a: 0, b: 1 });
  expect(changes.removed).toEqual([]);
  expect(changes.set.length).toBe(2);
  expect(wiped).toEqual([]);
});

test.each<[string, Partial<Route>]>([
  ['another tenant', { tenant: 'other' }],
  ['another kind', { kind: 'konnectivity' }],
])('does not give the slot of a removed route to its host with %s', (_what, change) => {
  const { table: of, inUse } = table(1);
  of.replace([route('a')]);
  inUse.add(0);
  of.replace([]);

  of.replace([route('a', change)]);
  expect(of.waiting).toBe(1);
  expect(of.size).toBe(0);

  of.replace([route('a')]);
  expect(of.waiting).toBe(0);
  expect(slotsOf(of)).toEqual({ a: 0 });
});

test('takes a host to another tenant and back', () => {
  const { table: of, inUse } = table(2);
  of.replace([route('a')]);
  inUse.add(0).add(1);
  of.replace([route('a', { tenant: 'other' })]);

  const changes = of.replace([route('a')]);

  expect(changes).toEqual({ set: [{ slot: 0, route: route('a') }], removed: [1] });
});

test('replaces all routes of a full table in two steps', () => {
  const { table: of } = table(3);
  of.replace([route('a'), route('b'), route('c')]);
  const next = [route('d'), route('e'), route('c')];

  const first = of.replace(next);
  expect(first).toEqual({ set: [], removed: [0, 1] });
  expect(of.waiting).toBe(2);

  of.replace(next);
  expect(of.waiting).toBe(0);
  expect(slotsOf(of)).toEqual({ c: 2, d: 1, e: 0 });
});

test('changes nothing when there are too many routes', () => {
  const { table: of } = table(2);
  of.replace([route('a'), route('b')]);

  expect(() => of.replace([route('a'), route('c'), route('d')])).toThrow(TooManyRoutes);

  expect(slotsOf(of)).toEqual({ a: 0, b: 1 });
});

test('an update leads to the same table as all routes together', () => {
  const hosts = fc.constantFrom('a', 'b', 'c', 'd');
  const change = fc.record({
    host: hosts,
    tenant: fc.constantFrom('t', 'u'),
    endpoint: fc.constantFrom('10.0.0.1:1', '10.0.0.2:1'),
    isRemoved: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 10 }), (steps) => {
      const { table: updated } = table();
      const { table: replaced } = table();
      const wanted = new Map<string, Route>();
      for (const step of steps) {
        const before = new Map(wanted);
        for (const { host, tenant, endpoint, isRemoved } of step) {
          if (isRemoved) wanted.delete(host);
          else wanted.set(host, route(host, { tenant, endpoints: [endpoint] }));
        }
        const set = [...wanted.values()].filter((one) => before.get(one.host) !== one);
        const removed = [...before.keys()].filter((host) => !wanted.has(host));

        const changes = updated.update({ set, removed });
        replaced.replace([...wanted.values()]);

        expect(changes.set.length).toBeLessThanOrEqual(set.length);
        const textOf = (of: RouteTable) =>
          of
            .routes()
            .map((assigned) => JSON.stringify(assigned.route))
            .toSorted();
        expect(textOf(updated)).toEqual(textOf(replaced));
      }
    }),
  );
});

test('an update that would have too many routes changes nothing', () => {
  const { table: of } = table(2);
  of.replace([route('a'), route('b')]);

  expect(() => of.update({ set: [route('c')], removed: [] })).toThrow(TooManyRoutes);
  expect(slotsOf(of)).toEqual({ a: 0, b: 1 });

  of.update({ set: [], removed: ['a', 'unknown'] });
  expect(slotsOf(of)).toEqual({ b: 1 });
});
