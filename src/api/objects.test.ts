import { describe, expect, test } from 'bun:test';
import { InvalidObjectError } from './fault.ts';
import { parseEdge, parseEdgeStrictly, parseExposure, parseExposureStrictly } from './objects.ts';
import {
  edgeOf,
  exposureOf,
  OBJECT,
  OBJECT_REF,
  VALID_OBJECTS,
  RULE_VIOLATIONS,
  SCHEMA_VIOLATIONS,
  type WrittenObject,
} from './testing/objects.ts';

function parse(object: WrittenObject) {
  return object.kind === 'Edge' ? parseEdgeStrictly(object) : parseExposureStrictly(object);
}

function refusal(parsing: () => unknown): InvalidObjectError {
  try {
    parsing();
  } catch (error) {
    if (error instanceof InvalidObjectError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

test.each(Object.entries(VALID_OBJECTS))('accepts %s', (_, object) => {
  expect(parse(object)).toMatchObject({ kind: object.kind, metadata: object.metadata });
});

test('sets the defaults of an Exposure', () => {
  const { spec } = parseExposure(exposureOf({}));

  expect(spec).toEqual({
    controlPlane: OBJECT,
    hosts: {},
    prepare: 'Patch',
    worker: {
      address: 'Virtual',
      virtualAddresses: ['100.64.64.1'],
      port: 7443,
      healthPort: 7444,
      directInjection: false,
      resources: { requests: { cpu: '10m', memory: '32Mi' } },
      tolerations: [{ operator: 'Exists' }],
      logLevel: 'info',
    },
  });
});

test('sets the defaults of a Service and its Secrets', () => {
  const { controlPlane } = parseExposure(VALID_OBJECTS['an Exposure for a Service']).spec;

  expect(controlPlane).toEqual({
    type: 'Service',
    service: { name: 'blue', apiPort: 6443, konnectivityPort: 8132 },
    caSecretRef: { name: 'blue-ca', certificateKey: 'tls.crt', privateKeyKey: 'tls.key' },
    kubeconfigSecretRef: { name: 'blue-admin-kubeconfig', key: 'admin.conf' },
  });
});

test('sets the defaults of an Edge', () => {
  expect(parseEdge(edgeOf({ driver: 'snicket' })).spec).toEqual({
    driver: 'snicket',
    port: 443,
    allowedNamespaces: { from: 'All' },
    annotations: 'Allowed',
  });
  expect(parseEdge(edgeOf({ driver: 'traefik', traefik: {} })).spec.traefik).toEqual({
    entryPoints: ['websecure'],
  });
});

test('treats a null field as absent', () => {
  const { worker, hosts } = parseExposure(exposureOf({ hosts: null, worker: { port: null } })).spec;

  expect(hosts).toEqual({});
  expect(worker.port).toBe(7443);
});

describe.each([...RULE_VIOLATIONS, ...SCHEMA_VIOLATIONS])('$path: $sentence', (wrong) => {
  test(`is the message for an invalid ${wrong.object.kind}`, () => {
    const { faults } = refusal(() => parse(wrong.object));

    expect(faults).toEqual([{ path: wrong.path, sentence: wrong.sentence }]);
  });
});

test('reports all validation errors, and the object', () => {
  const wrong = exposureOf({ hosts: { api: 'blue' }, prepare: 'Foo' });

  const error = refusal(() => parseExposure(wrong));

  expect(error.code).toBe('FieldInvalid');
  expect(error.message).toBe(
    'Exposure default/blue: spec.hosts.api: invalid host "blue": must be a lowercase DNS name with a dot, and not an IP address, such as tenant-01.k8s.example.com. spec.prepare: invalid value "Foo": must be one of Patch, Force, Report',
  );
});

test('lists the known fields if a file has an unknown one', () => {
  const { faults } = refusal(() =>
    parseExposureStrictly(exposureOf({ hosts: { apis: 'a.b' }, edges: 'a' })),
  );

  expect(faults).toEqual([
    {
      path: 'spec.hosts',
      sentence: 'unknown field "apis": known fields are api, konnectivity',
      unknownField: 'apis',
    },
    {
      path: 'spec',
      sentence:
        'unknown field "edges": known fields are edgeRef, controlPlane, hosts, prepare, limits, access, worker',
      unknownField: 'edges',
    },
  ]);
});

describe('fields of a newer CRD, in a response of an API server', () => {
  const newer = exposureOf({
    inventedLater: 1,
    controlPlane: { ...OBJECT, objectRef: { ...OBJECT_REF, inventedLater: { a: [1] } } },
    worker: { port: 7000, inventedLater: true },
  });

  test('are dropped, and the rest is parsed', () => {
    const { spec } = parseExposure({ ...newer, inventedLater: 'too' });

    expect(spec).toEqual(
      parseExposure(exposureOf({ controlPlane: OBJECT, worker: { port: 7000 } })).spec,
    );
    expect(parseEdge(edgeOf({ driver: 'snicket', inventedLater: 1 })).spec).toEqual({
      driver: 'snicket',
      port: 443,
      allowedNamespaces: { from: 'All' },
      annotations: 'Allowed',
    });
  });

  test('do not hide errors of other fields', () => {
    const wrong = exposureOf({ inventedLater: 1, hosts: { api: 'blue', inventedLater: 1 } });

    expect(refusal(() => parseExposure(wrong)).faults.map(({ path }) => path)).toEqual([
      'spec.hosts.api',
    ]);
  });

  test('are not removed from the object itself', () => {
    const before = structuredClone(newer);

    parseExposure(newer);

    expect(newer).toEqual(before);
  });
});

test.each([
  [undefined, 'Exposure: required value: must be a mapping'],
  ['Exposure', 'Exposure: invalid value "Exposure": must be a mapping'],
  [
    { metadata: null },
    'Exposure: apiVersion: required value: must be snicket.dev/v1alpha1. kind: required value: ',
  ],
  [
    edgeOf({ driver: 'snicket' }),
    'Exposure shared: kind: invalid value "Edge": must be Exposure. metadata.namesp',
  ],
])('rejects %j, which is not an Exposure', (value, message) => {
  expect(refusal(() => parseExposure(value)).message).toStartWith(message);
});

test('keeps all metadata unchanged', () => {
  const metadata = {
    name: 'blue',
    namespace: 'tenants',
    uid: 'u',
    labels: { a: 'b' },
    managedFields: [{ manager: 'kubectl', fieldsV1: { 'f:spec': {} } }],
    inventedLater: true,
  };

  expect(parseExposure({ ...exposureOf({}), metadata }).metadata as unknown).toEqual(metadata);
});

test('rejects an annotation that is not a string, as the API server does', () => {
  const object = edgeOf({ driver: 'snicket' });
  const metadata = { ...object.metadata, annotations: { 'snicket.dev/is-default': true } };

  expect(refusal(() => parseEdge({ ...object, metadata })).faults).toEqual([
    {
      path: 'metadata.annotations["snicket.dev/is-default"]',
      sentence: 'invalid value true: must be a string, in quotes if it looks like another type',
    },
  ]);
});

test('ignores unknown fields in a status', () => {
  const status = {
    edgeRef: { name: 'shared' },
    inventedLater: 1,
    proxies: { ready: 1, desired: 2, summary: '1/2' },
  };

  expect(parseExposure({ ...exposureOf({}), status }).status).toEqual({
    edgeRef: { name: 'shared' },
    proxies: { ready: 1, desired: 2, summary: '1/2' },
  });
});

test('treats an invalid status as absent', () => {
  const status = { mode: 1 };

  expect(parseExposure({ ...exposureOf({}), status }).status).toBeUndefined();
});
