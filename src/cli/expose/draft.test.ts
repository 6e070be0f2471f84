import { expect, test } from 'bun:test';
import { differences, draftExposure } from './draft.ts';

const controlPlane = { ref: { apiVersion: 'kamaji.clastix.io/v1alpha1', kind: 'A', name: 'a' } };
const blue = { name: 'blue', namespace: 'tenants', controlPlane };

test('has nothing in it that goes without saying', () => {
  expect(draftExposure(blue)).toEqual({
    ...{ apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure' },
    ...{ metadata: { name: 'blue', namespace: 'tenants' }, spec: { controlPlane } },
  } as never);
});

test('has what is asked for', () => {
  const wish = { ...blue, edge: 'e', apiHost: 'a.test', mode: 'terminate', prepare: 'Report' };

  expect(draftExposure(wish)).toMatchObject({
    spec: { edge: 'e', hosts: { api: 'a.test' }, worker: { mode: 'terminate' }, prepare: 'Report' },
  });
});

test('a default that is written out is no difference', () => {
  expect(differences(draftExposure({ ...blue, prepare: 'Patch' }), draftExposure(blue))).toEqual(
    [],
  );
});

test('differences go both ways', () => {
  const present = draftExposure({ ...blue, edge: 'e', apiHost: 'a.test' });
  const wanted = draftExposure({ ...blue, apiHost: 'b.test', konnectivityHost: 'k.test' });

  expect(differences(present, wanted)).toEqual([
    { path: 'spec.edge', present: '"e"', wanted: undefined },
    { path: 'spec.hosts.api', present: '"a.test"', wanted: '"b.test"' },
    { path: 'spec.hosts.konnectivity', present: undefined, wanted: '"k.test"' },
  ]);
});
