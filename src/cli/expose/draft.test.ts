import { expect, test } from 'bun:test';
import { differences, draftExposure } from './draft.ts';

const controlPlane = {
  type: 'Object',
  objectRef: { group: 'kamaji.clastix.io', kind: 'A', name: 'a' },
};
const blue = { name: 'blue', namespace: 'tenants', controlPlane };

test('the draft has no default values', () => {
  expect(draftExposure(blue)).toEqual({
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: { name: 'blue', namespace: 'tenants' },
    spec: { controlPlane },
  } as never);
});

test('the draft has the requested fields', () => {
  const draft = { ...blue, edge: 'e', apiHost: 'a.test', mode: 'Terminate', prepare: 'Report' };

  expect(draftExposure(draft)).toMatchObject({
    spec: {
      edgeRef: { name: 'e' },
      hosts: { api: 'a.test' },
      worker: { mode: 'Terminate' },
      prepare: 'Report',
    },
  });
});

test('an explicit default is not a difference', () => {
  expect(differences(draftExposure({ ...blue, prepare: 'Patch' }), draftExposure(blue))).toEqual(
    [],
  );
});

test('reports fields that only one of the Exposures has', () => {
  const present = draftExposure({ ...blue, edge: 'e', apiHost: 'a.test' });
  const requested = draftExposure({ ...blue, apiHost: 'b.test', konnectivityHost: 'k.test' });

  expect(differences(present, requested)).toEqual([
    { path: 'spec.edgeRef.name', present: '"e"', wanted: undefined },
    { path: 'spec.hosts.api', present: '"a.test"', wanted: '"b.test"' },
    { path: 'spec.hosts.konnectivity', present: undefined, wanted: '"k.test"' },
  ]);
});
