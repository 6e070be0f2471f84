import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { hostConflict, hostHolders, type HostClaim } from './conflicts.ts';
import { exposure } from './testing/wishes.ts';

interface Wish {
  readonly name: string;
  readonly created?: string;
  readonly api: string;
  readonly konnectivity?: string;
  readonly routed?: string;
  readonly former?: string;
  readonly deleted?: string;
}

function claim({ name, created, api, konnectivity, routed, former, deleted }: Wish): HostClaim {
  const { metadata } = exposure({}, { name });
  const route = routed === undefined ? undefined : { host: routed, service: name, port: 6443 };
  const formerRoute =
    former === undefined ? {} : { formerRoute: { api: { ...route!, host: former } } };
  return {
    exposure: {
      metadata: {
        ...metadata,
        ...(created !== undefined && { creationTimestamp: created }),
        ...(deleted !== undefined && { deletionTimestamp: deleted }),
      },
      ...(route !== undefined && { status: { route: { api: route }, ...formerRoute } }),
    },
    hosts: { api, konnectivity },
  };
}

/** By name: the message of the conflict, or that there is none. */
function outcomes(...wishes: readonly Wish[]): Record<string, string> {
  const claims = wishes.map(claim);
  const holders = hostHolders(claims);
  return Object.fromEntries(
    claims.map((one) => [
      one.exposure.metadata.name,
      hostConflict(one, holders)?.message ?? 'has its hosts',
    ]),
  );
}

test('the older of two has the host, and the younger is told who', () => {
  const young = { name: 'young', created: '2026-03-02T10:00:00Z', api: 'x.example.com' };
  const old = { name: 'old', created: '2026-03-01T10:00:00Z', api: 'x.example.com' };

  expect(outcomes(young, old)).toEqual({
    young: 'x.example.com is held by Exposure tenants/old since 2026-03-01',
    old: 'has its hosts',
  });
});

test('of two of the same age, the first by name has it', () => {
  const created = '2026-03-01T10:00:00Z';

  const found = outcomes({ name: 'b', created, api: 'x' }, { name: 'a', created, api: 'x' });

  expect(found['a']).toBe('has its hosts');
  expect(found['b']).toContain('tenants/a');
});

test('a host that is routed stays, however old the one that begins to wish for it', () => {
  const found = outcomes(
    { name: 'old', created: '2026-01-01T00:00:00Z', api: 'x', routed: 'y' },
    { name: 'young', created: '2026-02-01T00:00:00Z', api: 'x', routed: 'x' },
  );

  expect(found).toEqual({
    old: 'x is held by Exposure tenants/young since 2026-02-01; the route by y stays in use',
    young: 'has its hosts',
  });
});

test('a host that is given up is held until its route is gone', () => {
  const mover = { name: 'mover', created: '2026-02-01T00:00:00Z', api: 'new' };
  const heir = { name: 'heir', created: '2026-03-01T00:00:00Z', api: 'old' };

  expect(outcomes({ ...mover, routed: 'old' }, heir)['heir']).toContain('tenants/mover');
  expect(outcomes({ ...mover, routed: 'new' }, heir)['heir']).toBe('has its hosts');
});

test('a host that an Exposure has moved away from is its own until somebody else wishes for it', () => {
  const created = '2026-02-01T00:00:00Z';
  const mover = claim({ name: 'mover', created, api: 'new', routed: 'new', former: 'old' });
  const heir = claim({ name: 'heir', created: '2026-03-01T00:00:00Z', api: 'old' });

  expect(hostHolders([mover]).get('old')).toBe(mover);
  expect(hostHolders([mover, heir]).get('old')).toBe(heir);
  expect(hostConflict(heir, hostHolders([mover, heir]))).toBeUndefined();
});

test('a route stays with whoever wishes for a host that he cannot have, but not if that is another’s too', () => {
  const rival = claim({ name: 'rival', created: '2026-01-01T00:00:00Z', api: 'x', routed: 'x' });
  const mover = claim({ name: 'mover', created: '2026-02-01T00:00:00Z', api: 'x', routed: 'own' });
  const twin = claim({ name: 'twin', created: '2026-02-01T00:00:00Z', api: 'x', routed: 'x' });
  const newcomer = claim({ name: 'newcomer', created: '2026-02-01T00:00:00Z', api: 'x' });
  const holders = hostHolders([rival, mover, twin, newcomer]);

  expect(hostConflict(mover, holders)).toMatchObject({ code: 'HostConflict', keepsRoute: true });
  expect(hostConflict(twin, holders)).toMatchObject({ code: 'HostConflict', keepsRoute: false });
  expect(hostConflict(newcomer, holders)).toMatchObject({ keepsRoute: false });
});

test('one that is being deleted holds its host to the end, and the message says so', () => {
  const found = outcomes(
    { name: 'leaving', created: '2026-01-01T00:00:00Z', deleted: '2026-02-02T00:00:00Z', api: 'x' },
    { name: 'next', created: '2026-02-01T00:00:00Z', api: 'x' },
  );

  expect(found['next']).toContain('which is being deleted');
});

test('the host of konnectivity is no different from that of the API', () => {
  const found = outcomes(
    { name: 'a', created: '2026-01-01T00:00:00Z', api: 'a', konnectivity: 'x' },
    { name: 'b', created: '2026-02-01T00:00:00Z', api: 'x' },
  );

  expect(found['b']).toContain('tenants/a');
});

test('an Exposure without hosts is in nobody’s way', () => {
  const none = { ...claim({ name: 'a', api: 'x' }), hosts: undefined };
  const other = claim({ name: 'b', api: 'x' });

  const holders = hostHolders([none, other]);

  expect(hostConflict(none, holders)).toBeUndefined();
  expect(hostConflict(other, holders)).toBeUndefined();
});

test('a host is had by one Exposure, whatever the order of the list', () => {
  const host = fc.constantFrom('v', 'w', 'x', 'y', 'z');
  const wish = fc.record(
    { api: host, konnectivity: host, routed: host, created: fc.constantFrom('2026-01', '2026-02') },
    { requiredKeys: ['api'] },
  );

  fc.assert(
    fc.property(fc.array(wish, { maxLength: 8 }), (wishes) => {
      const claims = wishes.map((one, index) => claim({ ...one, name: `e${index}` }));
      const holders = hostHolders(claims);
      const names = (of: ReadonlyMap<string, HostClaim>) =>
        Object.fromEntries([...of].map(([key, { exposure: e }]) => [key, e.metadata.name]));

      expect(names(hostHolders(claims.toReversed()))).toEqual(names(holders));
      const served = claims.filter((one) => hostConflict(one, holders) === undefined);
      const taken = served.flatMap(({ hosts }) => [
        ...new Set([hosts?.api, hosts?.konnectivity].filter((one) => one !== undefined)),
      ]);
      expect(new Set(taken).size).toBe(taken.length);
    }),
  );
});
