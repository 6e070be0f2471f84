import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Route } from './route.ts';
import { RouteTable, TooManyRoutes } from './route-table.ts';

function route(host: string, change: Partial<Route> = {}): Route {
  return { tenant: 't', host, kind: 'api', endpoints: ['10.0.0.1:1'], limits: {}, ...change };
}

/**
 * Returns a table whose slots are in use if they are in `inUse`. `reset` lists the slots that were reset. Threads are up
 * to date unless a test changes `slotUse`.
 */
function createTable(slots = 8) {
  const inUse = new Set<number>();
  const reset: number[] = [];
  const slotUse = {
    isUpToDate: true,
    isInUse: (slot: number) => inUse.has(slot),
    resetSlot: (slot: number) => reset.push(slot),
  };
  return { table: new RouteTable(slots, slotUse), inUse, reset, slotUse };
}

function slotsOf(table: RouteTable) {
  return Object.fromEntries(table.routes().map((assigned) => [assigned.route.host, assigned.slot]));
}

test('returns only changes', () => {
  const { table } = createTable();
  table.replace([route('a'), route('b'), route('c')]);

  const changed = route('b', { endpoints: ['10.0.0.2:1'] });
  const changes = table.replace([route('a'), changed, route('d')]);

  expect(changes).toEqual({
    set: [
      { slot: 1, route: changed },
      { slot: 3, route: route('d') },
    ],
    removed: [2],
  });
  expect(table.replace([route('d'), changed, route('a')])).toEqual({ set: [], removed: [] });
});

test.each<[string, Partial<Route>]>([
  ['no endpoints', { endpoints: [] }],
  ['a connection limit', { limits: { connections: 3 } }],
  ['a connection rate limit', { limits: { connectionsPerSecond: 3 } }],
])('keeps the slot of a host that gets %s', (_what, change) => {
  const { table } = createTable();
  table.replace([route('a')]);

  const changes = table.replace([route('a', change)]);

  expect(changes).toEqual({ set: [{ slot: 0, route: route('a', change) }], removed: [] });
});

test('assigns a new slot to a host that gets another tenant, so that its counts start at zero', () => {
  const { table } = createTable();
  table.replace([route('a')]);

  const changes = table.replace([route('a', { tenant: 'other' })]);

  expect(changes.removed).toEqual([0]);
  expect(changes.set.map(({ slot }) => slot)).toEqual([1]);
});

test('resets and reuses a slot only after its last connection has closed', () => {
  const { table, inUse, reset } = createTable(2);
  table.replace([route('a'), route('b')]);
  inUse.add(0);
  table.replace([route('b')]);

  const early = table.replace([route('b'), route('c')]);
  expect(early).toEqual({ set: [], removed: [] });
  expect(table.waiting).toBe(1);

  inUse.clear();
  table.replace([route('b'), route('c')]);
  expect(table.waiting).toBe(0);
  expect(reset).toEqual([0]);
  expect(slotsOf(table)).toEqual({ b: 1, c: 0 });
});

test('resets and reuses a slot only after every thread has removed its route', () => {
  const { table, slotUse, reset } = createTable(1);
  table.replace([route('a')]);
  slotUse.isUpToDate = false;
  table.replace([]);

  table.replace([route('b')]);
  expect(table.waiting).toBe(1);
  expect(reset).toEqual([]);

  slotUse.isUpToDate = true;
  table.replace([route('b')]);
  expect(slotsOf(table)).toEqual({ b: 0 });
  expect(reset).toEqual([0]);
});

test('assigns its previous slot, with connections and counts, to a route that is added again', () => {
  const { table, inUse, slotUse, reset } = createTable(2);
  table.replace([route('a'), route('b')]);
  inUse.add(1);
  slotUse.isUpToDate = false;
  table.replace([]);

  const changes = table.replace([route('b'), route('a')]);

  expect(slotsOf(table)).toEqual({ a: 0, b: 1 });
  expect(changes.removed).toEqual([]);
  expect(changes.set.length).toBe(2);
  expect(reset).toEqual([]);
});

test.each<[string, Partial<Route>]>([
  ['another tenant', { tenant: 'other' }],
  ['another kind', { kind: 'konnectivity' }],
])('does not assign the slot of a removed route to its host with %s', (_what, change) => {
  const { table, inUse } = createTable(1);
  table.replace([route('a')]);
  inUse.add(0);
  table.replace([]);

  table.replace([route('a', change)]);
  expect(table.waiting).toBe(1);
  expect(table.size).toBe(0);

  table.replace([route('a')]);
  expect(table.waiting).toBe(0);
  expect(slotsOf(table)).toEqual({ a: 0 });
});

test('assigns the previous slot to a host that returns to its first tenant', () => {
  const { table, inUse } = createTable(2);
  table.replace([route('a')]);
  inUse.add(0).add(1);
  table.replace([route('a', { tenant: 'other' })]);

  const changes = table.replace([route('a')]);

  expect(changes).toEqual({ set: [{ slot: 0, route: route('a') }], removed: [1] });
});

test('replaces all routes of a full table in two steps', () => {
  const { table } = createTable(3);
  table.replace([route('a'), route('b'), route('c')]);
  const next = [route('d'), route('e'), route('c')];

  const first = table.replace(next);
  expect(first).toEqual({ set: [], removed: [0, 1] });
  expect(table.waiting).toBe(2);

  table.replace(next);
  expect(table.waiting).toBe(0);
  expect(slotsOf(table)).toEqual({ c: 2, d: 1, e: 0 });
});

test('changes nothing if there are too many routes', () => {
  const { table } = createTable(2);
  table.replace([route('a'), route('b')]);

  expect(() => table.replace([route('a'), route('c'), route('d')])).toThrow(TooManyRoutes);

  expect(slotsOf(table)).toEqual({ a: 0, b: 1 });
});

test('update() results in the same table as replace() with all routes', () => {
  const hosts = fc.constantFrom('a', 'b', 'c', 'd');
  const change = fc.record({
    host: hosts,
    tenant: fc.constantFrom('t', 'u'),
    endpoint: fc.constantFrom('10.0.0.1:1', '10.0.0.2:1'),
    isRemoved: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 10 }), (steps) => {
      const { table: updated } = createTable();
      const { table: replaced } = createTable();
      const wanted = new Map<string, Route>();
      for (const step of steps) {
        const before = new Map(wanted);
        for (const { host, tenant, endpoint, isRemoved } of step) {
          if (isRemoved) wanted.delete(host);
          else wanted.set(host, route(host, { tenant, endpoints: [endpoint] }));
        }
        const set = [...wanted.values()].filter((desired) => before.get(desired.host) !== desired);
        const removed = [...before.keys()].filter((host) => !wanted.has(host));

        const changes = updated.update({ set, removed });
        replaced.replace([...wanted.values()]);

        expect(changes.set.length).toBeLessThanOrEqual(set.length);
        const textOf = (table: RouteTable) =>
          table
            .routes()
            .map((assigned) => JSON.stringify(assigned.route))
            .toSorted();
        expect(textOf(updated)).toEqual(textOf(replaced));
      }
    }),
  );
});

test('update() changes nothing if there would be too many routes', () => {
  const { table } = createTable(2);
  table.replace([route('a'), route('b')]);

  expect(() => table.update({ set: [route('c')], removed: [] })).toThrow(TooManyRoutes);
  expect(slotsOf(table)).toEqual({ a: 0, b: 1 });

  table.update({ set: [], removed: ['a', 'unknown'] });
  expect(slotsOf(table)).toEqual({ b: 1 });
});
