import { expect, test } from 'bun:test';
import { parseDefinition, servingPatch, type Definition } from './definitions.ts';

const definition = parseDefinition(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: doors.snicket.test}
spec:
  group: snicket.test
  versions:
    - {name: v1, served: true, storage: true}
    - {name: v1alpha2, served: false, storage: false}
  conversion:
    strategy: Webhook
    webhook: {clientConfig: {service: {name: missing, namespace: missing}}}
`);

test('a CRD is installed without its conversion webhook, and otherwise unchanged', () => {
  expect(definition).toEqual({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'doors.snicket.test' },
    spec: {
      group: 'snicket.test',
      versions: [
        { name: 'v1', served: true, storage: true },
        { name: 'v1alpha2', served: false, storage: false },
      ],
    },
  } as unknown as Definition);
});

test('servingPatch serves an existing version', () => {
  expect(servingPatch(definition, 'v1alpha2')).toEqual([
    { op: 'replace', path: '/spec/versions/1/served', value: true },
  ]);
});

test('servingPatch returns undefined for a missing version', () => {
  expect(servingPatch(definition, 'v1alpha3')).toBeUndefined();
});
