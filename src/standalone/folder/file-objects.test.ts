import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { faultText } from './fault.ts';
import { fileObjects } from './file-objects.ts';

const EDGE = `apiVersion: snicket.dev/v1alpha1
kind: Edge
metadata:
  name: shared
spec:
  driver: snicket
  domain: example.com
`;

const EXPOSURE = `apiVersion: snicket.dev/v1alpha1
kind: Exposure
metadata:
  name: blue
spec:
  controlPlane:
    type: Endpoints
    endpoints: {api: ["192.0.2.5:6443"]}
    caSecretRef: {name: blue-ca}
    kubeconfigSecretRef: {name: blue-admin}
`;

const SECRET = `apiVersion: v1
kind: Secret
metadata: {name: blue-ca, namespace: tenants}
data: {a: YQ==}
stringData: {b: b}
files: {c: pki/c.crt}
`;

function read(text: string) {
  const { objects, faults } = fileObjects({ name: 'a.yaml', text });
  return { objects, faults: faults.map(faultText) };
}

test('reads Edges, Exposures and Secrets with their defaults', () => {
  const { objects, faults } = read([EDGE, EXPOSURE, SECRET].join('---\n'));

  expect(faults).toEqual([]);
  expect(objects.map(({ object }) => object)).toMatchObject([
    { kind: 'Edge', metadata: { name: 'shared' }, spec: { port: 443 } },
    {
      kind: 'Exposure',
      metadata: { name: 'blue', namespace: 'default' },
      spec: { controlPlane: { caSecretRef: { name: 'blue-ca', certificateKey: 'tls.crt' } } },
    },
    {
      kind: 'Secret',
      metadata: { name: 'blue-ca', namespace: 'tenants' },
      type: 'Opaque',
      data: { a: 'YQ==', b: 'Yg==' },
    },
  ]);
  expect(objects[2]?.files.get('c')?.path).toBe('pki/c.crt');
  expect(objects[2]?.object).not.toHaveProperty('files');
});

test('drops the metadata that an API server has added to a copy', () => {
  const copy = `${EXPOSURE.replace('  name: blue', '  name: blue\n  uid: abc\n  resourceVersion: "7"\n  generation: 3')}status:\n  endpoint: x:443\n`;

  const [exposure] = read(copy).objects;

  expect(exposure?.object.metadata).toEqual({ name: 'blue', namespace: 'default' });
  expect(exposure?.object).not.toHaveProperty('status');
});

describe('rejects with position and action:', () => {
  test.each([
    [
      'another driver',
      EDGE.replace('driver: snicket', 'driver: traefik'),
      'a.yaml:6:11: Edge shared: spec.driver: driver "traefik" requires a management cluster; use snicket, the gateway in this process',
    ],
    [
      'a Service',
      EXPOSURE.replace('endpoints: {api: ["192.0.2.5:6443"]}', 'service: {name: blue}'),
      'a.yaml:8:14: Exposure default/blue: spec.controlPlane.service: requires a management cluster; set type to Endpoints and replace service with endpoints, such as {api: ["192.0.2.5:6443"]}, with caSecretRef and kubeconfigSecretRef',
    ],
    [
      'a violated validation rule of the API',
      EXPOSURE.replace('192.0.2.5:6443', '192.0.2.5'),
      'a.yaml:8:23: Exposure default/blue: spec.controlPlane.endpoints.api[0]: ',
    ],
    [
      'an unknown field',
      EDGE.replace('domain:', 'domian:'),
      'a.yaml:7:3: Edge shared: spec: unknown field "domian": ',
    ],
    [
      'another kind',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
      'a.yaml:1:1: ConfigMap default/a: v1 ConfigMap is not supported in a folder; supported kinds are Edge, Exposure and Secret',
    ],
    [
      'another version',
      EDGE.replace('v1alpha1', 'v2'),
      'a.yaml:1:13: Edge shared: apiVersion: unsupported value "snicket.dev/v2": must be snicket.dev/v1alpha1',
    ],
    [
      'an Edge in a namespace',
      EDGE.replace('name: shared', 'name: shared\n  namespace: a'),
      'a.yaml:5:14: Edge a/shared: metadata.namespace: an Edge is cluster-scoped; ',
    ],
    [
      'the namespace of the operator',
      SECRET.replace('tenants', 'snicket-system'),
      'a.yaml:3:38: Secret snicket-system/blue-ca: metadata.namespace: namespace snicket-system is reserved for the operator; use another one',
    ],
    [
      'finalizers',
      EXPOSURE.replace('name: blue', 'name: blue\n  finalizers: [mine]'),
      'a.yaml:5:15: Exposure default/blue: metadata["finalizers"]: not supported in a file; ',
    ],
    [
      'a kubeconfig',
      'apiVersion: v1\nkind: Config\nclusters: []\nusers: []\n',
      'a.yaml:1:1: this is a kubeconfig, not an object; rename the file, for example to .conf, and reference it in files of a Secret',
    ],
    [
      'a kind with the name of an inherited property',
      'apiVersion: v1\nkind: constructor\nmetadata: {name: a}\n',
      'a.yaml:1:1: constructor default/a: v1 constructor is not supported in a folder; ',
    ],
    [
      'a string instead of the annotations of a Secret',
      SECRET.replace('metadata: {', 'metadata: {annotations: none, '),
      'a.yaml:3:25: Secret tenants/blue-ca: metadata.annotations: invalid value "none": must be a mapping',
    ],
    [
      'a merge key with a string',
      `${EDGE}<<: text\n`,
      'a.yaml:1:1: merge key << without a mapping',
    ],
    ['a mapping that is not an object', 'just: text\n', 'a.yaml:1:1: not an object; '],
    [
      'the same object twice',
      `${EDGE}---\n${EDGE}`,
      'a.yaml:9:1: Edge shared is already defined in line 1; ',
    ],
    ['invalid YAML', 'a: b\nc: [d\n', 'a.yaml:2:4: unclosed ['],
  ])('%s', (_, text, fault) => {
    const { faults } = read(text);

    expect(faults[0]).toStartWith(fault);
    expect(faults).toHaveLength(1);
  });
});

test('shows the line of a fault', () => {
  const text = EDGE.replace('driver: snicket', 'driver: traefik');

  const { faults } = fileObjects({ name: 'a.yaml', text });

  expect(faults[0]?.excerpt).toBe('6 |   driver: traefik\n              ^');
});

describe('no message contains a value of a Secret', () => {
  test.each([
    ['text that is not base64', { data: { a: 'hunter2' } }, 'data.a'],
    ['a number', { stringData: { a: 4711 } }, 'stringData.a'],
    ['a string instead of entries', { data: 'hunter2' }, 'data'],
    ['an entry twice', { data: { a: 'YQ==' }, stringData: { a: 'hunter2' } }, 'stringData.a'],
    ['a list', { stringData: { a: ['hunter2'] } }, 'stringData.a'],
    ['several lines instead of a path', { files: { a: 'users:\n- hunter2\n' } }, 'files.a'],
    [
      'data that is too large',
      { stringData: { a: 'hunter2 '.repeat(200_000) } },
      'too large: a Secret has at most 1048576 bytes',
    ],
  ])('%s', (_, fields, path) => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, ...fields };

    const { faults } = fileObjects({ name: 'a.yaml', text: stringify(secret) });

    expect(faultText(faults[0]!)).toContain(`: Secret default/s: ${path}`);
    expect(JSON.stringify(faults)).not.toMatch(/hunter2|4711/);
  });
});

test('stops at a limit in a large file', () => {
  const { faults } = fileObjects({ name: 'a.yaml', text: '\n'.repeat(300_000) });

  expect(faults.map(({ sentence }) => sentence)).toEqual([
    'more than 250000 tokens in one file: split the file',
  ]);
});

test('reports the first of thousands of faults in a file', () => {
  const { faults } = fileObjects({ name: 'a.yaml', text: 'a: b\n---\n'.repeat(5_000) });

  expect(faults).toHaveLength(20);
  expect(faults.at(-1)?.line).toBe(39);
});

test('never throws for any file, and only Edges lack a namespace', () => {
  const word = fc.constantFrom(
    ...['apiVersion', 'v1', 'kind', 'Edge', 'Exposure', 'Secret', 'metadata', 'name', 'spec'],
    ...[': ', '\n', '  ', '- ', '{', '}', '[', ']', '---\n', '&a', '*a', '"', 'null', 'data', '!'],
    ...['snicket.dev/v1alpha1', 'items', 'List', '\t', '<<', '7', 'files'],
  );

  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), (words) => {
      const { objects } = fileObjects({ name: 'a.yaml', text: words.join('') });

      for (const { object } of objects) {
        expect(object.metadata.namespace === undefined).toBe(object.kind === 'Edge');
      }
    }),
  );
});

test('reads the same from YAML and from JSON', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's' },
    stringData: { yes: 'on', a: '1_000' },
  };

  const [yaml, json] = [stringify(object), JSON.stringify(object)].map(
    (text) => fileObjects({ name: 'a', text }).objects[0]?.object,
  );

  expect(yaml).toEqual(json);
});
