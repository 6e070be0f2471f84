import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Condition } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { Fault } from '../../kube/testing/fault.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

const FORBIDDEN: Fault = { kind: 'error', status: 403, reason: 'Forbidden' };
const BROKEN: Fault = { kind: 'error', status: 500, reason: 'InternalError' };
const ALWAYS = Number.POSITIVE_INFINITY;

/** `False Reason: sentence`. */
function edgeCondition(lab: OperatorLab, type: string): string {
  const edge = lab.management.read(RESOURCES.edge, { name: 'shared' });
  const { status } = (edge ?? {}) as { readonly status?: { conditions?: readonly Condition[] } };
  const found = status?.conditions?.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

describe.concurrent('an operator without permission to', () => {
  test('read Secrets reports it on a new Exposure, and continues once it has the permission', async () => {
    await using lab = await OperatorLab.start();
    await lab.addTenant('blue');
    lab.management.inject(FORBIDDEN, { verb: 'get', plural: 'secrets', name: 'blue-ca' }, ALWAYS);

    await lab.expose('blue');

    const condition = await lab.untilCondition('blue', 'Prepared', /^False PermissionMissing/);
    expect(condition).toContain('GET /api/v1/namespaces/tenants/secrets/blue-ca');
    expect(condition).toContain('ClusterRole');
    expect(lab.condition('blue', 'Ready')).toStartWith('False PermissionMissing');
    expect(lab.condition('blue', 'Routed')).toStartWith('Unknown WaitingForCondition');
    lab.management.clearFaults();
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(lab.condition('blue', 'Prepared')).toStartWith('True');
  });

  test('read Secrets does not block a deleted Exposure forever', async () => {
    await using lab = await OperatorLab.start({ cleanupTimeoutMs: 500 });
    await lab.addExposed('blue');
    await lab.stopOperator();
    await lab.unexpose('blue');
    lab.management.inject(FORBIDDEN, { verb: 'get', plural: 'secrets', name: 'blue-ca' }, ALWAYS);

    lab.startOperator({ cleanupTimeoutMs: 500 });

    await lab.until('Exposure blue is gone', () => lab.exposure('blue') === undefined);
    await lab.until('an event', () => lab.eventsOf('blue').includes('CleanupIncomplete'));
  });

  test('delete Ingresses reports it on a deleted Exposure', async () => {
    const { spec, objects, resource, name } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    await lab.addExposed('blue');
    lab.management.inject(FORBIDDEN, { verb: 'delete', plural: 'ingresses' }, ALWAYS);

    await lab.unexpose('blue');

    await lab.untilCondition(
      'blue',
      'Ready',
      /^False CleaningUp: .* lacks a permission .* DELETE /,
    );
    lab.management.clearFaults();
    await lab.until('Exposure blue is gone', () => lab.exposure('blue') === undefined);
    expect(lab.read(resource, name)).toBeUndefined();
  });

  test('write Ingresses reports it on the route', async () => {
    const { spec, objects } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    await lab.addTenant('blue');
    lab.management.inject(FORBIDDEN, { verb: 'apply', plural: 'ingresses' }, ALWAYS);

    await lab.expose('blue');

    const condition = await lab.untilCondition('blue', 'Routed', /^False PermissionMissing/);
    expect(condition).toContain('ingresses');
  });

  test('read Ingresses reports it on the Edge and its routes, and serves others', async () => {
    const { spec, objects, resource, name } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec, isOperatorRunning: false });
    lab.management.seed(...objects);
    lab.management.inject(FORBIDDEN, { plural: 'ingresses' }, ALWAYS);
    await lab.applyEdge({}, 'own');
    await lab.addTenant('blue');
    await lab.expose('blue');
    lab.startOperator();

    await lab.addExposed('green', { edgeRef: { name: 'own' } });

    await lab.untilCondition('blue', 'Routed', /^False PermissionMissing.*ingresses/);
    expect(edgeCondition(lab, 'Accepted')).toMatch(/^False PermissionMissing.*ingresses/);
    lab.management.clearFaults();
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(lab.read(resource, name)).toBeDefined();
    await lab.until('the Edge is accepted.', () =>
      edgeCondition(lab, 'Accepted').startsWith('True'),
    );
  });
});

test('a management cluster is reported if it keeps failing, and not if it fails once', async () => {
  await using lab = await OperatorLab.start();
  await lab.addTenant('blue');
  lab.management.inject(BROKEN, { verb: 'get', plural: 'secrets', name: 'blue-ca' }, 3);

  await lab.expose('blue');

  const condition = await lab.untilCondition('blue', 'Prepared', /^False ManagementUnavailable/);
  expect(condition).toContain('secrets/blue-ca');
  const failed = lab.log.filter(({ msg }) => msg === 'reconcile failed');
  expect(failed.length).toBeGreaterThanOrEqual(2);
  await lab.untilCondition('blue', 'WorkersReady', /^True/);
});

test('an Edge whose class does not exist is not ready', async () => {
  const { spec, objects } = LAB_EDGES.haproxy;
  await using lab = await OperatorLab.start({ edge: spec });
  await lab.until('it is reported', () =>
    edgeCondition(lab, 'Ready').startsWith('False EdgeReference'),
  );
  expect(edgeCondition(lab, 'Accepted')).toStartWith(
    'False EdgeReferenceInvalid: IngressClass haproxy, which Edge shared names, does not exist.',
  );

  lab.management.seed(...objects);

  await lab.until('it is ready', () => edgeCondition(lab, 'Ready').startsWith('True'));
  expect(lab.management.read(RESOURCES.edge, { name: 'shared' })).toMatchObject({
    status: { addresses: ['127.0.0.1'], addressSummary: '127.0.0.1' },
  });
});
