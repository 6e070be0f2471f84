import { expect, test } from 'bun:test';
import type { Route } from './route.ts';
import { RouteTable, SlotsExhausted } from './route-table.ts';

const MINUTE_MS = 60_000;

function route(host: string, change: Partial<Route> = {}): Route {
  return { tenant: 't', host, kind: 'api', endpoints: ['10.0.0.1:1'], limits: {}, ...change };
}

/** Slots in use are those in the set; wiped ones are listed. */
function table(slots = 8) {
  const inUse = new Set<number>();
  const wiped: number[] = [];
  const use = {
    isInUse: (slot: number) => inUse.has(slot),
    wipe: (slot: number) => wiped.push(slot),
  };
  return { table: new RouteTable(slots, use), inUse, wiped };
}

function slotsOf(of: RouteTable) {
  return Object.fromEntries(of.routes().map((placed) => [placed.route.host, placed.slot]));
}

test('tells only what changed', () => {
  const { table: of } = table();
  of.replace([route('a'), route('b'), route('c')], 0);

  const changed = route('b', { endpoints: ['10.0.0.2:1'] });
  const changes = of.replace([route('a'), changed, route('d')], 1);

  expect(changes).toEqual({
    set: [
      { slot: 1, route: changed },
      { slot: 3, route: route('d') },
    ],
    removed: [2],
  });
  expect(of.replace([route('d'), changed, route('a')], 2)).toEqual({ set: [], removed: [] });
});

test.each<[string, Partial<Route>]>([
  ['no endpoints', { endpoints: [] }],
  ['a limit of connections', { limits: { connections: 3 } }],
  ['a limit of their rate', { limits: { connectionsPerSecond: 3 } }],
])('keeps the slot of a host that gets %s', (_what, change) => {
  const { table: of } = table();
  of.replace([route('a')], 0);

  const changes = of.replace([route('a', change)], 1);

  expect(changes).toEqual({ set: [{ slot: 0, route: route('a', change) }], removed: [] });
});

test('gives a host that goes to another tenant a new slot: the counts are not that one’s', () => {
  const { table: of } = table();
  of.replace([route('a')], 0);

  const changes = of.replace([route('a', { tenant: 'other' })], 1);

  expect(changes.removed).toEqual([0]);
  expect(changes.set.map(({ slot }) => slot)).toEqual([1]);
});

test('uses a slot again when its last connection is over, wiped, and not before', () => {
  const { table: of, inUse, wiped } = table(2);
  of.replace([route('a'), route('b')], 0);
  inUse.add(0);
  of.replace([route('b')], 1);

  expect(() => of.replace([route('b'), route('c')], 5 * MINUTE_MS)).toThrow(SlotsExhausted);
  inUse.clear();
  of.replace([route('b'), route('c')], 6 * MINUTE_MS);

  expect(wiped).toEqual([0]);
  expect(slotsOf(of)).toEqual({ b: 1, c: 0 });
});

test('changes nothing when there are too many routes', () => {
  const { table: of } = table(2);
  of.replace([route('a'), route('b')], 0);

  expect(() => of.replace([route('a'), route('c'), route('d')], 1)).toThrow('more than 2 routes');

  expect(slotsOf(of)).toEqual({ a: 0, b: 1 });
});
