/**
 * Snicket's CRDs on a real API server. The API server accepts them, sets the same defaults as Snicket's parser, and
 * rejects the same objects with the same messages.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { definitionOf, KINDS } from '../src/api/definition/definition.ts';
import { exposureStatus, type ExposureStatus } from '../src/api/exposure-status.ts';
import { parseEdge, parseExposure } from '../src/api/objects.ts';
import { NETWORK_TEXTS } from '../src/api/testing/network-texts.ts';
import {
  edgeOf,
  exposureOf,
  OBJECT,
  OBJECT_REF,
  VALID_OBJECTS,
  RULE_VIOLATIONS,
  SCHEMA_VIOLATIONS,
  type WrittenObject,
} from '../src/api/testing/objects.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';

const FOLDER = join(repository, 'deploy', 'crds');
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = '/apis/snicket.dev/v1alpha1';

let world: World;

beforeAll(async () => {
  world = await World.start({ management: { workers: 0 } }, { progress: terminalProgress() });
});

afterAll(async () => world?.stop());

const kubectl = (...args: string[]) => world.management.kubectl(...args);

async function request(method: string, path: string, body?: unknown, type?: string) {
  return world.management.controlPlane.request(method, path, body, type);
}

/** The API server's answer to an object that it refuses. */
interface Refusal {
  readonly message: string;
  readonly details?: { readonly causes: readonly { field: string; message: string }[] };
}

/** Applies an object with dryRun, so nothing is written. */
async function dryRun(object: WrittenObject) {
  const folder = object.kind === 'Edge' ? 'edges' : 'namespaces/default/exposures';
  const response = await request(
    'POST',
    `${GROUP}/${folder}?dryRun=All&fieldValidation=Strict`,
    object,
  );
  const answer = (await response.json()) as WrittenObject & Refusal;
  return { isAccepted: response.ok, answer, warning: response.headers.get('warning') };
}

/**
 * Returns the causes of a refusal. The server writes a map key as `[cpu]` or as `.cpu`, depending on which validation
 * failed.
 */
function causesOf({ details }: Refusal) {
  return (details?.causes ?? []).map(({ field, message }) => ({
    field: field.replaceAll(/\[([a-z]\w*)\]/g, '.$1'),
    message,
  }));
}

function parse(object: WrittenObject) {
  return object.kind === 'Edge' ? parseEdge(object) : parseExposure(object);
}

describe('the CRDs', () => {
  test.each(KINDS.map((kind) => [kind.resource.kind, kind] as const))(
    'the CRD of %s causes no warning',
    async (_, kind) => {
      const definition = definitionOf(kind);

      const response = await request(
        'POST',
        `${DEFINITIONS}?dryRun=All&fieldValidation=Strict`,
        definition,
      );

      expect({ status: response.status, warning: response.headers.get('warning') }).toEqual({
        status: 201,
        warning: null,
      });
    },
  );

  test('are accepted and served', async () => {
    await kubectl('apply', '--filename', FOLDER);

    await waitFor('all kinds are served', async () => {
      const responses = ['edges', 'exposures', 'tenantroutes'].map((plural) =>
        request('GET', `${GROUP}/${plural}`),
      );
      return (await Promise.all(responses)).every(({ ok }) => ok);
    });
  });

  test('are unchanged when they are applied again', async () => {
    expect(await kubectl('apply', '--filename', FOLDER)).toBe(
      'customresourcedefinition.apiextensions.k8s.io/edges.snicket.dev unchanged\n' +
        'customresourcedefinition.apiextensions.k8s.io/exposures.snicket.dev unchanged\n' +
        'customresourcedefinition.apiextensions.k8s.io/tenantroutes.snicket.dev unchanged\n',
    );
  });

  test('have descriptions for kubectl explain', async () => {
    // kubectl wraps lines.
    const explained = async (path: string) =>
      waitFor(`the API server has published ${path}`, async () => {
        const text = await kubectl('explain', path).catch(() => undefined);
        return text?.replaceAll(/\s+/g, ' ');
      });
    const words = await explained('exposure.spec.worker');

    expect(words).toContain(
      "worker configures the proxy on each worker node, through which pods reach the tenant's API.",
    );
    expect(words).toContain(
      'mode <string> enum: Passthrough, Terminate mode selects how the proxy',
    );
    expect(words).toContain('Defaults to Passthrough with driver snicket');
    expect(words).toContain('port <integer> port is the port of the proxy on each node.');
    expect(await explained('edge')).toContain(
      'An Edge is one address that hosted control planes share',
    );
  });
});

describe('a valid object', () => {
  test.each(Object.entries(VALID_OBJECTS))(
    'is accepted and gets the same defaults: %s',
    async (_, object) => {
      const { isAccepted, answer, warning } = await dryRun(object);

      expect(isAccepted, answer.message).toBeTrue();
      expect(warning).toBeNull();
      expect(answer.spec).toEqual(parse(object).spec);
    },
  );
});

describe('an invalid object', () => {
  test.each([...RULE_VIOLATIONS])(
    'is rejected with the same message: $path: $sentence',
    async ({ object, path, sentence }) => {
      const { isAccepted, answer } = await dryRun(object);

      expect(isAccepted).toBeFalse();
      expect(causesOf(answer)).toEqual([
        { field: path, message: expect.stringContaining(sentence) },
      ]);
    },
  );

  test.each([...SCHEMA_VIOLATIONS])(
    'is rejected for the same field: $path: $sentence',
    async ({ object, path }) => {
      const { isAccepted, answer } = await dryRun(object);

      expect(isAccepted).toBeFalse();
      // The API server adds another cause: it did not check the rules.
      expect(causesOf(answer).map(({ field }) => field)).toContain(path);
    },
  );

  test('is rejected for an unknown field', async () => {
    const { isAccepted, answer } = await dryRun(exposureOf({ worker: { prot: 7443 } }));

    expect(isAccepted).toBeFalse();
    expect(answer.message).toContain('unknown field "spec.worker.prot"');
  });
});

/** Returns an object with this text in a field of the kind. */
const WITH_TEXT: Readonly<Record<keyof typeof NETWORK_TEXTS, (text: string) => WrittenObject>> = {
  host: (text) => exposureOf({ hosts: { api: text } }),
  domain: (text) => edgeOf({ driver: 'snicket', domain: text }),
  address: (text) => edgeOf({ driver: 'snicket', addresses: [text] }),
  virtualAddress: (text) => exposureOf({ worker: { virtualAddresses: [text] } }),
  endpoint: (text) =>
    exposureOf({
      controlPlane: {
        type: 'Endpoints',
        endpoints: { api: [text] },
        caSecretRef: { name: 'ca' },
        kubeconfigSecretRef: { name: 'kubeconfig' },
      },
    }),
};

test.each(Object.entries(NETWORK_TEXTS))(
  'the API server accepts and rejects the same values as the parser: %s',
  async (field, { right, wrong }) => {
    const results = new Map<string, boolean>();
    for (const text of [...right, ...wrong]) {
      const { isAccepted } = await dryRun(WITH_TEXT[field as keyof typeof NETWORK_TEXTS](text));
      results.set(text, isAccepted);
    }

    const textsWith = (expected: boolean) =>
      [...results].flatMap(([text, isAccepted]) => (isAccepted === expected ? [text] : []));
    expect(textsWith(true)).toEqual([...right]);
    expect(textsWith(false)).toEqual([...wrong]);
  },
);

describe('kubectl get', () => {
  const at = '2026-03-02T10:00:00Z';
  const status: ExposureStatus = {
    observedGeneration: 1,
    endpoint: 'blue.k8s.example.com:443',
    edgeRef: { name: 'shared' },
    driver: 'haproxy',
    mode: 'Terminate',
    proxies: { ready: 11, desired: 12, summary: '11/12' },
    certificate: { notAfter: at, renewAt: at, authority: 'ab'.repeat(32) },
    hops: [
      { name: 'dns', state: 'Pass', reason: 'Resolved', message: 'to 203.0.113.10', at },
      { name: 'sni', state: 'Fail', reason: 'NoRoute', message: 'reset', action: 'wait', at },
    ],
    conditions: [
      {
        type: 'Accepted',
        status: 'True',
        reason: 'Accepted',
        message: '',
        lastTransitionTime: at,
      },
      {
        type: 'Reachable',
        status: 'True',
        reason: 'Reachable',
        message: '',
        lastTransitionTime: at,
      },
      {
        type: 'Ready',
        status: 'False',
        reason: 'ProxiesNotReady',
        message: '11 of 12',
        lastTransitionTime: at,
        observedGeneration: 1,
      },
    ],
  };

  beforeAll(async () => {
    await world.management.apply(
      edgeOf({ driver: 'haproxy', domain: 'example.com' }),
      exposureOf({ edgeRef: { name: 'shared' } }),
    );
    await writeStatus(`${GROUP}/namespaces/default/exposures/blue`, status);
    await writeStatus(`${GROUP}/edges/shared`, {
      addresses: ['203.0.113.10', '2001:db8::10'],
      addressSummary: '203.0.113.10,2001:db8::10',
      exposures: 1,
      conditions: [
        { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: at },
      ],
    });
  });

  async function writeStatus(path: string, value: object): Promise<void> {
    const body = { status: value };
    const response = await request('PATCH', `${path}/status`, body, 'application/merge-patch+json');
    if (!response.ok) throw new Error(await response.text());
  }

  test('a complete status is stored unchanged', async () => {
    const stored = await world.management.get<{ status: unknown }>('exposure', 'blue');

    expect(stored?.status).toEqual(status);
    expect(exposureStatus.parse(stored?.status)).toEqual(status as never);
  });

  test('shows endpoint and conditions of an Exposure', async () => {
    const [head, row] = table(await kubectl('get', 'exposures'));

    expect(head).toEqual([
      ...['NAME', 'ENDPOINT', 'EDGE', 'MODE', 'PROXIES', 'READY', 'REACHABLE', 'REASON', 'AGE'],
    ]);
    expect(row?.slice(0, -1)).toEqual([
      ...['blue', 'blue.k8s.example.com:443', 'shared', 'Terminate', '11/12', 'False'],
      ...['True', 'ProxiesNotReady'],
    ]);
  });

  test('shows more columns with -o wide', async () => {
    const [head, row] = table(await kubectl('get', 'exp', 'blue', '--output=wide'));

    expect(head?.at(-1)).toBe('DRIVER');
    expect(row?.at(-1)).toBe('haproxy');
  });

  test('shows driver and number of Exposures of an Edge', async () => {
    const [head, row] = table(await kubectl('get', 'edge'));

    expect(head).toEqual([
      ...['NAME', 'DRIVER', 'DOMAIN', 'ADDRESSES', 'EXPOSURES', 'READY', 'AGE'],
    ]);
    expect(row?.slice(0, -1)).toEqual([
      ...['shared', 'haproxy', 'example.com', '203.0.113.10,2001:db8::10', '1', 'True'],
    ]);
  });

  test('shows host and backend of a TenantRoute', async () => {
    const route = {
      apiVersion: 'snicket.dev/v1alpha1',
      kind: 'TenantRoute',
      metadata: { name: 'blue-1', namespace: 'default' },
      spec: {
        edgeRef: { name: 'shared' },
        driver: 'haproxy',
        exposureRef: { name: 'blue' },
        host: 'blue.k8s.example.com',
        type: 'API',
        backend: { service: { name: 'blue', port: 6443 } },
      },
    };
    await world.management.apply(route);

    const [head, row] = table(await kubectl('get', 'troute', 'blue-1', '--output=wide'));

    expect(head).toEqual([
      ...['NAME', 'HOST', 'TYPE', 'SERVICE', 'EDGE', 'AGE', 'DRIVER', 'EXPOSURE'],
    ]);
    expect(row?.toSpliced(5, 1)).toEqual([
      ...['blue-1', 'blue.k8s.example.com', 'API', 'blue', 'shared', 'haproxy', 'blue'],
    ]);
    await kubectl('delete', 'troute', 'blue-1');
  });

  test('lists Edges and Exposures by their category', async () => {
    const names = (await kubectl('get', 'snicket', '--output=name')).trimEnd().split('\n');

    expect(names.toSorted()).toEqual(['edge.snicket.dev/shared', 'exposure.snicket.dev/blue']);
  });
});

test('an Edge can change its driver', async () => {
  await world.management.apply(edgeOf({ driver: 'traefik', traefik: {} }));

  const edge = await world.management.get<{ spec: object }>('edge', 'shared');
  expect(edge?.spec).toMatchObject({ driver: 'traefik', traefik: { entryPoints: ['websecure'] } });
});

describe('the control plane of an Exposure is immutable', () => {
  const secrets = { caSecretRef: { name: 'ca' }, kubeconfigSecretRef: { name: 'kubeconfig' } };
  const service = { type: 'Service', ...secrets, service: { name: 'blue', apiPort: 6443 } };
  const endpoints = { type: 'Endpoints', ...secrets, endpoints: { api: ['192.0.2.1:6443'] } };
  const other = (fields: object) => ({ ...OBJECT, objectRef: { ...OBJECT_REF, ...fields } });
  const { kind, name } = OBJECT_REF;
  const advice =
    'To expose another control plane, delete this Exposure and create a new one; this removes Snicket from the tenant first.';
  const path = `${GROUP}/namespaces/default/exposures/keeper`;

  /** Creates an Exposure for one control plane, and tries to change it to another. */
  async function change(from: object, to: object) {
    const object = exposureOf({ controlPlane: from });
    const metadata = { ...object.metadata, name: 'keeper' };
    const created = await request('POST', path.replace('/keeper', ''), { ...object, metadata });
    if (!created.ok) throw new Error(await created.text());
    const stored = (await created.json()) as WrittenObject;
    const answer = await request('PUT', `${path}?dryRun=All`, {
      ...stored,
      spec: exposureOf({ controlPlane: to }).spec,
    });
    await request('DELETE', path);
    return { isAccepted: answer.ok, refusal: (await answer.json()) as Refusal };
  }

  test.each([
    ['another Service', service, { ...service, service: { name: 'green' } }, 'is for Service blue'],
    ['another object', OBJECT, other({ name: 'green' }), `is for ${kind} ${name}`],
    ['another kind', OBJECT, other({ kind: 'Other' }), `is for ${kind} ${name}`],
    ['another group', OBJECT, other({ group: 'b.test' }), `is for ${kind} ${name}`],
    ['endpoints for a Service', service, endpoints, 'has type Service'],
    ['a Service for endpoints', endpoints, service, 'has type Endpoints'],
    ['endpoints for an object', OBJECT, endpoints, 'has type Object'],
  ])('%s is rejected', async (_, from, to, was) => {
    const { isAccepted, refusal } = await change(from, to);

    expect(isAccepted).toBeFalse();
    const [cause] = causesOf(refusal);
    expect(cause?.field).toBe('spec.controlPlane');
    expect(cause?.message).toContain(`this Exposure ${was}`);
    expect(cause?.message).toContain(advice);
  });

  test.each([
    [
      'ports',
      service,
      { ...service, service: { name: 'blue', apiPort: 443, konnectivityPort: 1 } },
    ],
    ['Secrets', service, { ...service, caSecretRef: { name: 'other' } }],
    ['addresses', endpoints, { ...endpoints, endpoints: { api: ['192.0.2.2:6443'] } }],
  ])('%s can be changed', async (_, from, to) => {
    const { isAccepted, refusal } = await change(from, to);

    expect(isAccepted, refusal.message).toBeTrue();
  });
});

/** Splits a table into rows and cells. */
function table(text: string): string[][] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd().split(/\s+/));
}
