import { expect, test } from 'bun:test';
import { preflightChecks, type PreflightFacts } from './checks.ts';

const READY: PreflightFacts = {
  version: 'v1.36.0',
  missingApis: [],
  denied: [],
  crds: [],
  controllers: ['Gateway API'],
  ingressClasses: [],
  loadBalancers: ['ingress/haproxy (203.0.113.10)'],
  providers: ['TenantControlPlane (kamaji.clastix.io)'],
};

test('every check passes on a cluster that meets all requirements', () => {
  const checks = preflightChecks(READY);

  expect(checks.map(({ state }) => state)).toEqual(Array.from({ length: 7 }, () => 'Pass'));
  expect(checks.every(({ action }) => action === undefined)).toBe(true);
});

test.each<[string, Partial<PreflightFacts>, string, string]>([
  ['an old API server', { version: 'v1.28.9' }, 'Fail', 'VersionUnsupported'],
  ['a missing API', { missingApis: ['discovery.k8s.io/v1'] }, 'Fail', 'VersionUnsupported'],
  ['no access reviews', { denied: undefined }, 'Warn', 'PermissionMissing'],
  ['a missing permission', { denied: ['create namespaces'] }, 'Fail', 'PermissionMissing'],
  [
    'CRDs of another version',
    { crds: [{ name: 'edges.snicket.dev', versions: ['v1alpha0'] }] },
    'Fail',
    'CrdsOutdated',
  ],
  ['CRDs that cannot be listed', { crds: undefined }, 'Warn', 'PermissionMissing'],
  [
    'IngressClasses that cannot be listed',
    { controllers: [], ingressClasses: undefined },
    ...(['Warn', 'PermissionMissing'] as const),
  ],
  ['Services that cannot be listed', { loadBalancers: undefined }, 'Warn', 'PermissionMissing'],
  ['no ingress controller', { controllers: [] }, 'Warn', 'ComponentMissing'],
  ['no load balancer', { loadBalancers: [] }, 'Warn', 'ComponentMissing'],
  ['no provider', { providers: [] }, 'Warn', 'ComponentMissing'],
])('reports %s with an action', (_, facts, state, code) => {
  const [problem, ...others] = preflightChecks({ ...READY, ...facts }).filter(
    ({ state: actual }) => actual !== 'Pass',
  );

  expect(problem).toMatchObject({ state, code, action: expect.any(String) });
  expect(others).toEqual([]);
});

test('CRDs that serve this version pass', () => {
  const crds = [{ name: 'edges.snicket.dev', versions: ['v1alpha1'] }];

  const checks = preflightChecks({ ...READY, crds });

  expect(checks.find(({ check }) => check === 'crds')?.state).toBe('Pass');
});

test('a version that cannot be parsed passes', () => {
  const [kubernetes] = preflightChecks({ ...READY, version: 'custom' });

  expect(kubernetes?.state).toBe('Pass');
});
