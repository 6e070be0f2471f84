import { expect, setDefaultTimeout, test } from 'bun:test';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

const POLICY = {
  limits: { maxConnections: 20 },
  access: { allowedSources: ['192.0.2.0/24'] },
};

test('limits and allowed sources are set in the gateway, and removed again', async () => {
  await using lab = await OperatorLab.start({ hasGateway: true });
  const { controllers } = await lab.addTenant('blue');
  await controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.expose('blue');
  await lab.untilCondition('blue', 'Ready', /^True/);
  await lab.untilCondition('blue', 'Reachable', /^True/);

  await lab.expose('blue', POLICY);

  await lab.until('it is in the TenantRoute', () => lab.routesOf('blue')[0]?.allowedSources);
  expect(lab.routesOf('blue')).toMatchObject([
    { limits: POLICY.limits, allowedSources: POLICY.access.allowedSources },
  ]);
  // The operator probes from 127.0.0.1, which is not allowed now.
  await lab.untilCondition('blue', 'Reachable', /^False/);
  expect(lab.gateway?.failures('source_not_allowed')).toBeGreaterThan(0);

  await lab.expose('blue', { access: null, limits: null });

  await lab.untilCondition('blue', 'Reachable', /^True/);
  expect(lab.routesOf('blue')[0]).not.toContainAnyKeys(['limits', 'allowedSources']);
});

test('limits and allowed sources that an Edge does not enforce are reported in Routed', async () => {
  const { spec, objects } = LAB_EDGES.haproxy;
  await using lab = await OperatorLab.start({ edge: spec });
  lab.management.seed(...objects);
  await lab.addTenant('blue');

  await lab.expose('blue', POLICY);

  const condition = await lab.untilCondition('blue', 'Routed', /PolicyNotEnforced/);
  expect(condition).toContain(
    'Edge shared has driver haproxy, which does not enforce spec.limits and spec.access.allowedSources.',
  );
});
