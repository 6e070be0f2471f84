import { describe, expect, test } from 'bun:test';
import { parseDefinition, serves, type Definition } from './definitions.ts';

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
    webhook: {clientConfig: {service: {name: nobody, namespace: nowhere}}}
`);

test('a CRD is taken without its conversion webhook, and otherwise whole', () => {
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

describe('a version is served', () => {
  test.each([
    ['v1', true],
    ['v1alpha2', false],
    ['v1alpha3', false],
  ])('%s: %p', (version, served) => {
    expect(serves(definition, version)).toBe(served);
  });
});
