import { expect, test } from 'bun:test';
import { exposure } from '../plan/testing/wishes.ts';
import { tenantRoute } from '../plan/testing/tenant-routes.ts';
import { deletionFault } from './edge-deletion.ts';

const EARLIER = '2026-01-01T00:00:00Z';
const LATER = '2026-01-02T00:00:00Z';

const here = tenantRoute('blue', 'blue.example.test');
const there = { spec: { ...here.spec, edgeRef: { name: 'other' } } };

test.each([
  ['one that is not being deleted', undefined, LATER, [], undefined],
  ['an older Exposure that is not routed yet', LATER, EARLIER, [], undefined],
  ['an Exposure that it serves', LATER, EARLIER, [here], undefined],
  ['a restored Exposure that it serves', EARLIER, LATER, [here], undefined],
  ['an Exposure that is moving away and back', LATER, EARLIER, [there, here], undefined],
  ['a later Exposure', EARLIER, LATER, [], 'accepts no new Exposures'],
  [
    'an Exposure that another Edge serves',
    LATER,
    EARLIER,
    [there],
    'accepts no new Exposures. The routes on Edge other stay in use',
  ],
])('an Edge and %s', (_what, deletionTimestamp, creationTimestamp, routes, refusal) => {
  const { metadata } = exposure();
  const edge = { metadata: { name: here.spec.edgeRef.name, deletionTimestamp } };

  const fault = deletionFault({ metadata: { ...metadata, creationTimestamp } }, edge, routes);

  expect(fault?.message).toBe(
    refusal && `Edge ${edge.metadata.name} is being deleted and ${refusal}`,
  );
});
