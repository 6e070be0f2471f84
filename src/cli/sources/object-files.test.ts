import { describe, expect, test } from 'bun:test';
import { stringify } from 'yaml';
import { withoutNulls } from '../../api/objects.ts';
import { VALID_OBJECTS, RULE_VIOLATIONS } from '../../api/testing/objects.ts';
import { readObjects } from './object-files.ts';

function read(text: string, namespace = 'default') {
  return readObjects([{ name: 'a.yaml', text }], namespace);
}

test.each(Object.entries(VALID_OBJECTS))('accepts %s', (_what, object) => {
  const { objects, faults } = read(stringify(object));

  expect(faults).toEqual([]);
  expect(objects as readonly unknown[]).toEqual([withoutNulls(object)]);
});

test('reports an invalid field with the message of the API server and the line', () => {
  for (const { object, path, sentence } of RULE_VIOLATIONS) {
    const { faults } = read(`# one line before\n${stringify(object)}`);

    expect(faults.some((fault) => fault.endsWith(`: ${path}: ${sentence}`))).toBe(true);
    for (const fault of faults) expect(fault).toMatch(/^a\.yaml:\d+:\d+: (Edge|Exposure) /);
  }
});

describe('the location of an error', () => {
  const text = `apiVersion: snicket.dev/v1alpha1
kind: Edge
metadata:
  name: shared
spec:
  driver: snicket
  addresses:
    - 203.0.113.10
    - edge.example.com
`;

  test('is that of the value', () => {
    expect(read(text).faults[0]).toStartWith('a.yaml:9:7: Edge shared: spec.addresses[1]: ');
  });

  test('is that of the parent for a missing field', () => {
    const { faults } = read(text.replace('  driver: snicket\n', ''));

    expect(faults[0]).toStartWith(
      'a.yaml:6:3: Edge shared: spec.driver: required value: must be one of ',
    );
  });

  test('is that in the file for an item of a List', () => {
    const list = `kind: List\napiVersion: v1\nitems:\n- ${text.trimEnd().replaceAll('\n', '\n  ')}\n`;

    expect(read(list).faults[0]).toStartWith('a.yaml:12:9: Edge shared: spec.addresses[1]: ');
  });

  test('is found for a field with dots and quotes in its name', () => {
    const annotated = text
      .replace('  name: shared', '  name: shared\n  annotations:\n    "a.b/\\"c\\"": 7')
      .replace('edge.example.com', '203.0.113.11');

    expect(read(annotated).faults).toEqual([
      'a.yaml:6:18: Edge shared: metadata.annotations["a.b/\\"c\\""]: invalid value 7: must be a string, in quotes if it looks like another type',
    ]);
  });
});

test('reports the location of invalid YAML', () => {
  expect(read('a: [1\nb: 2\n').faults[0]).toStartWith('a.yaml:1:4: ');
});

test('reports the location of a document that is not an object', () => {
  expect(read('---\n# nothing here\n---\nname: blue\n').faults).toEqual([
    'a.yaml:4:1: not a Kubernetes object; set apiVersion, kind and metadata.name',
  ]);
});

test('reports the location of a duplicate object', () => {
  const edge =
    'apiVersion: snicket.dev/v1alpha1\nkind: Edge\nmetadata: {name: a}\nspec: {driver: snicket}\n';
  const files = ['a.yaml', 'b.yaml'].map((name) => ({ name, text: edge }));

  expect(readObjects(files, 'default').faults).toEqual([
    'b.yaml:1:1: Edge a is also defined at a.yaml:1:1; remove one',
  ]);
});

test('adds the requested namespace to objects without one', () => {
  const { objects } = read(
    `apiVersion: v1
kind: Service
metadata: {name: blue}
---
apiVersion: v1
kind: Service
metadata: {name: red, namespace: other}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: haproxy}
`,
    'tenants',
  );

  expect(objects.map(({ metadata }) => metadata)).toEqual([
    { name: 'blue', namespace: 'tenants' },
    { name: 'red', namespace: 'other' },
    { name: 'haproxy' },
  ]);
});

test('reads the values of a Secret in either form', () => {
  const { objects } = read(`apiVersion: v1
kind: Secret
metadata: {name: ca, namespace: tenants}
data: {tls.crt: Yg==, tls.key: b2xk}
stringData: {tls.key: new}
`);

  expect(objects[0]).toMatchObject({ data: { 'tls.crt': 'Yg==', 'tls.key': 'bmV3' } });
});

test('reads no objects from an empty file', () => {
  expect(read('')).toEqual({ objects: [], faults: [] });
  expect(read('# only a comment\n')).toEqual({ objects: [], faults: [] });
});

describe('metadata of every kind', () => {
  const tenant = (metadata: string) => `apiVersion: kamaji.clastix.io/v1alpha1
kind: TenantControlPlane
metadata:
  name: blue
  namespace: tenants
${metadata}`;

  test.each([
    ['labels: [a]', '6:11', 'labels: invalid value ["a"]: must be a mapping'],
    [
      'annotations: {a: 7}',
      '6:20',
      'annotations.a: invalid value 7: must be a string, in quotes if it',
    ],
    ['ownerReferences: {}', '6:20', 'ownerReferences: invalid value {}: must be a list'],
    [
      'ownerReferences: [null]',
      '6:21',
      'ownerReferences[0]: invalid value null: must be a mapping',
    ],
    [
      'ownerReferences: [{kind: A}]',
      '6:21',
      'ownerReferences[0].apiVersion: required value: must be a',
    ],
    ['managedFields: 5', '6:18', 'managedFields: invalid value 5: must be a list'],
    ['managedFields: [null]', '6:19', 'managedFields[0]: invalid value null: must be a mapping'],
    ['uid: 5', '6:8', 'uid: invalid value 5: must be a string'],
  ])('%s is reported with its location and a hint', (field, place, sentence) => {
    const { faults } = read(tenant(`  ${field}\n`));

    expect(faults[0]).toStartWith(
      `a.yaml:${place}: TenantControlPlane tenants/blue: metadata.${sentence}`,
    );
  });

  test('ignores fields without a value', () => {
    const fields = ['labels', 'annotations', 'ownerReferences', 'managedFields', 'namespace'];
    const { objects, faults } = read(`apiVersion: steward.butlerlabs.dev/v1alpha1
kind: TenantControlPlane
metadata:
  name: blue
${fields.map((field) => `  ${field}:\n`).join('')}spec:
  addons:
    tcpProxy:
    konnectivity: ~
  controlPlane:
    gateway: null
`);

    expect(faults).toEqual([]);
    expect(objects as readonly unknown[]).toEqual([
      {
        apiVersion: 'steward.butlerlabs.dev/v1alpha1',
        kind: 'TenantControlPlane',
        metadata: { name: 'blue', namespace: 'default' },
        spec: { addons: {}, controlPlane: {} },
      },
    ]);
  });
});
