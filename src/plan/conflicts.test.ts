import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ROUTES_FINALIZER } from '../api/host-ownership.ts';
import { TenantRouteIndex } from '../api/tenant-route-index.ts';
import type { TenantRoute } from '../api/tenant-route.ts';
import { claimedHosts, hostConflict, type HostClaim } from './conflicts.ts';
import { HostClaims } from './host-claims.ts';
import { tenantRoute } from './testing/tenant-routes.ts';
import { exposure } from './testing/inputs.ts';

interface Claim {
  readonly name: string;
  readonly created?: string;
  readonly api: string;
  readonly konnectivity?: string;
  readonly isDeleted?: boolean;
  readonly hasFinalizer?: boolean;
}

const OLD = '2026-01-01T00:00:00Z';
const YOUNG = '2026-02-01T00:00:00Z';

function claim({ name, created = OLD, api, konnectivity, ...state }: Claim): HostClaim {
  const { metadata } = exposure({}, { name });
  return {
    exposure: {
      metadata: {
        ...metadata,
        creationTimestamp: created,
        ...(state.isDeleted === true && { deletionTimestamp: YOUNG }),
        ...(state.hasFinalizer === true && { finalizers: [ROUTES_FINALIZER] }),
      },
    },
    hosts: { api, konnectivity },
  };
}

function ownersOf(claims: readonly HostClaim[], routes: readonly TenantRoute[] = []): HostClaims {
  const owners = new HostClaims(new TenantRouteIndex(routes));
  for (const added of claims) owners.put(added);
  return owners;
}

/** Returns the message of the conflict for each Exposure, by name, or that there is none. */
function outcomes(claims: readonly Claim[], routes: readonly TenantRoute[] = []) {
  const all = claims.map(claim);
  const owners = ownersOf(all, routes);
  return Object.fromEntries(
    all.map((candidate) => [
      candidate.exposure.metadata.name,
      hostConflict(candidate, owners)?.message ?? 'has its hosts',
    ]),
  );
}

test('of two claims without a TenantRoute, the older one owns the host', () => {
  const young = { name: 'young', created: YOUNG, api: 'x.example.com' };
  const old = { name: 'old', created: OLD, api: 'x.example.com' };

  expect(outcomes([young, old])).toEqual({
    young: 'Host x.example.com is already used by Exposure tenants/old.',
    old: 'has its hosts',
  });
});

test('of two claims of the same age, the first by name owns the host', () => {
  const found = outcomes([
    { name: 'b', api: 'x' },
    { name: 'a', api: 'x' },
  ]);

  expect(found['a']).toBe('has its hosts');
  expect(found['b']).toContain('tenants/a');
});

test('an Exposure that had routes owns the host rather than an older one that had none', () => {
  const found = outcomes([
    { name: 'old', created: OLD, api: 'x' },
    { name: 'young', created: YOUNG, api: 'x', hasFinalizer: true },
  ]);

  expect(found['young']).toBe('has its hosts');
  expect(found['old']).toContain('tenants/young');
});

test('a host with a TenantRoute keeps its owner when an older Exposure claims it', () => {
  const found = outcomes(
    [
      { name: 'old', created: OLD, api: 'x', hasFinalizer: true },
      { name: 'young', created: YOUNG, api: 'x' },
    ],
    [tenantRoute('young', 'x'), tenantRoute('old', 'y')],
  );

  expect(found).toEqual({
    old: 'Host x is already used by Exposure tenants/young. The route on y stays in use.',
    young: 'has its hosts',
  });
});

test('of two TenantRoutes for a host, the older one determines the owner', () => {
  const claims = [
    { name: 'a', api: 'x' },
    { name: 'b', api: 'x' },
  ];
  const at = (name: string, created: string) =>
    tenantRoute(name, 'x', { creationTimestamp: created });

  expect(outcomes(claims, [at('a', YOUNG), at('b', OLD)])['b']).toBe('has its hosts');
  expect(outcomes(claims, [at('a', OLD), at('b', OLD)])['a']).toBe('has its hosts');
});

test('a host that is no longer claimed keeps its owner until its TenantRoute is deleted', () => {
  const claims = [
    { name: 'mover', created: YOUNG, api: 'new' },
    { name: 'heir', created: OLD, api: 'old' },
  ];
  const current = tenantRoute('mover', 'new');

  expect(outcomes(claims, [current, tenantRoute('mover', 'old')])['heir']).toContain(
    'tenants/mover',
  );
  expect(outcomes(claims, [current])['heir']).toBe('has its hosts');
});

test('a TenantRoute of an Exposure that does not exist reserves its host', () => {
  const first = claim({ name: 'next', api: 'x' });
  const route = tenantRoute('gone', 'x');

  const conflict = hostConflict(first, ownersOf([first], [route]));

  expect(conflict?.message).toBe(
    'Host x is reserved by TenantRoute tenants/gone-x for Exposure tenants/gone, which does not exist.',
  );
  expect(conflict?.action).toContain('delete that TenantRoute');
});

test('previous routes stay during a conflict, unless one of their hosts belongs to another Exposure', () => {
  const at = (name: string, api = 'x') => claim({ name, api });
  const claims = ['rival', 'mover', 'twin', 'newcomer'].map((name) => at(name));
  const [, mover, sameName, newcomer] = claims as [HostClaim, HostClaim, HostClaim, HostClaim];
  const owners = ownersOf(claims, [
    tenantRoute('rival', 'x', { creationTimestamp: OLD }),
    tenantRoute('mover', 'own', { creationTimestamp: OLD }),
    tenantRoute('twin', 'x', { creationTimestamp: YOUNG }),
  ]);

  expect(hostConflict(mover, owners)).toMatchObject({ code: 'HostConflict', keepsRoutes: true });
  expect(hostConflict(sameName, owners)).toMatchObject({
    code: 'HostConflict',
    keepsRoutes: false,
  });
  expect(hostConflict(newcomer, owners)).toMatchObject({ keepsRoutes: false });
});

test('an Exposure that is being deleted owns its host until it is gone, and the message says so', () => {
  const found = outcomes([
    { name: 'leaving', created: OLD, isDeleted: true, api: 'x' },
    { name: 'next', created: YOUNG, api: 'x' },
  ]);

  expect(found['next']).toContain('which is being deleted');
});

test('the konnectivity host is treated like the API host', () => {
  const found = outcomes([
    { name: 'a', created: OLD, api: 'a', konnectivity: 'x' },
    { name: 'b', created: YOUNG, api: 'x' },
  ]);

  expect(found['b']).toContain('tenants/a');
});

test('an Exposure without hosts has no conflict and causes none', () => {
  const none = { ...claim({ name: 'a', api: 'x' }), hosts: undefined };
  const other = claim({ name: 'b', api: 'x' });

  const owners = ownersOf([none, other]);

  expect(hostConflict(none, owners)).toBeUndefined();
  expect(hostConflict(other, owners)).toBeUndefined();
});

test('a host has one owner, in any order of Exposures and TenantRoutes', () => {
  const host = fc.constantFrom('v', 'w', 'x', 'y', 'z');
  const created = fc.constantFrom(OLD, YOUNG);
  const spec = fc.record(
    { api: host, konnectivity: host, created, hasFinalizer: fc.boolean() },
    { requiredKeys: ['api'] },
  );
  const route = fc.record({ exposure: fc.integer({ min: 0, max: 8 }), host, created });

  fc.assert(
    fc.property(
      fc.array(spec, { maxLength: 8 }),
      fc.uniqueArray(route, {
        maxLength: 8,
        selector: (candidate) => `${candidate.exposure} ${candidate.host}`,
      }),
      (specs, routed) => {
        const claims = specs.map((spec, index) => claim({ ...spec, name: `e${index}` }));
        const routes = routed.map((routedHost) =>
          tenantRoute(`e${routedHost.exposure}`, routedHost.host, {
            creationTimestamp: routedHost.created,
          }),
        );
        const owners = ownersOf(claims, routes);
        const reversed = ownersOf(claims.toReversed(), routes.toReversed());

        for (const each of ['v', 'w', 'x', 'y', 'z']) {
          expect(reversed.ownerOf(each)?.key).toEqual(owners.ownerOf(each)?.key as string);
        }
        const accepted = claims.filter(
          (candidate) => hostConflict(candidate, owners) === undefined,
        );
        const taken = accepted.flatMap((acceptedClaim) => [
          ...new Set(claimedHosts(acceptedClaim)),
        ]);
        expect(new Set(taken).size).toBe(taken.length);
      },
    ),
  );
});

test('a changed or deleted Exposure loses its previous claims', () => {
  const owners = ownersOf([claim({ name: 'one', api: 'a' })]);

  owners.put(claim({ name: 'one', api: 'b' }));
  expect(owners.ownerOf('a')).toBeUndefined();
  expect(owners.ownerOf('b')?.key).toBe('tenants/one');

  owners.remove('tenants/one');
  expect(owners.ownerOf('b')).toBeUndefined();
  expect([...owners.claimantsOf('b')]).toEqual([]);
});
