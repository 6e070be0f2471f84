import { expect, test } from 'bun:test';
import { exposure } from '../plan/testing/inputs.ts';
import { tenantRoute } from '../plan/testing/tenant-routes.ts';
import { deletionFault } from './edge-deletion.ts';
import { ROUTES_FINALIZER } from './host-ownership.ts';

const DELETED = '2026-01-02T00:00:00Z';

const routeHere = tenantRoute('blue', 'blue.example.test');
const routeElsewhere = { spec: { ...routeHere.spec, edgeRef: { name: 'other' } } };

test.each([
  ['that is not being deleted, and an Exposure without routes', undefined, [], undefined],
  [
    'that is not being deleted, and an Exposure that moves to it',
    undefined,
    [routeElsewhere],
    undefined,
  ],
  ['that is being deleted, and an Exposure that it serves', DELETED, [routeHere], undefined],
  [
    'that is being deleted, and an Exposure that moves back to it',
    DELETED,
    [routeElsewhere, routeHere],
    undefined,
  ],
  [
    'that is being deleted, and an Exposure without routes',
    DELETED,
    [],
    'accepts no new Exposures',
  ],
  [
    'that is being deleted, and an Exposure that moves to it',
    DELETED,
    [routeElsewhere],
    'accepts no new Exposures. The routes on Edge other stay in use',
  ],
])('the deletion fault of an Edge %s', (_, deletionTimestamp, routes, expected) => {
  const edge = { metadata: { name: routeHere.spec.edgeRef.name, deletionTimestamp } };

  const fault = deletionFault(exposure(), edge, routes);

  expect(fault?.message).toBe(
    expected && `Edge ${edge.metadata.name} is being deleted and ${expected}.`,
  );
});

test('an Edge that is being deleted accepts an Exposure whose routes were deleted by another client', () => {
  const edge = { metadata: { name: routeHere.spec.edgeRef.name, deletionTimestamp: DELETED } };
  const { metadata } = exposure();
  const routed = { metadata: { ...metadata, finalizers: [ROUTES_FINALIZER] } };

  expect(deletionFault(routed, edge, [])).toBeUndefined();
  expect(deletionFault(routed, edge, [routeElsewhere])?.code).toBe('EdgeTerminating');
});
