import { expect, test } from 'bun:test';
import { requirementChecks, type InstallationFacts } from './requirements.ts';

const READY: InstallationFacts = {
  version: 'v1.36.0',
  missingApis: [],
  denied: [],
  definitions: [],
  controllers: ['Gateway API'],
  loadBalancers: ['ingress/haproxy (203.0.113.10)'],
  providers: ['TenantControlPlane (kamaji.clastix.io)'],
};

test('a cluster that has everything passes every check', () => {
  const checks = requirementChecks(READY);

  expect(checks.map(({ state }) => state)).toEqual(Array.from({ length: 7 }, () => 'Pass'));
  expect(checks.every(({ action }) => action === undefined)).toBe(true);
});

test.each<[string, Partial<InstallationFacts>, string, string]>([
  ['an old API server', { version: 'v1.28.9' }, 'Fail', 'KubernetesTooOld'],
  ['a missing API', { missingApis: ['discovery.k8s.io/v1'] }, 'Fail', 'ApiVersionMissing'],
  ['no access reviews', { denied: undefined }, 'Warn', 'PermissionMissing'],
  ['a missing permission', { denied: ['create namespaces'] }, 'Fail', 'PermissionMissing'],
  [
    'definitions of another version',
    { definitions: [{ name: 'edges.snicket.dev', versions: ['v1alpha0'] }] },
    'Fail',
    'DefinitionsOutdated',
  ],
  ['no controller', { controllers: [] }, 'Warn', 'ControllerMissing'],
  ['no load balancer', { loadBalancers: [] }, 'Warn', 'LoadBalancerMissing'],
  ['no provider', { providers: [] }, 'Warn', 'ProviderMissing'],
])('%s is reported, with what to do', (_, facts, state, code) => {
  const [problem, ...others] = requirementChecks({ ...READY, ...facts }).filter(
    (one) => one.state !== 'Pass',
  );

  expect(problem).toMatchObject({ state, code, action: expect.any(String) });
  expect(others).toEqual([]);
});

test('definitions of this version pass', () => {
  const definitions = [{ name: 'edges.snicket.dev', versions: ['v1alpha1'] }];

  const checks = requirementChecks({ ...READY, definitions });

  expect(checks.find(({ check }) => check === 'definitions')?.state).toBe('Pass');
});

test('a version that cannot be parsed passes', () => {
  const [kubernetes] = requirementChecks({ ...READY, version: 'custom' });

  expect(kubernetes?.state).toBe('Pass');
});
