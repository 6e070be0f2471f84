/**
 * Tests the objects in a tenant's cluster on a real API server: it accepts them and returns all fields, and the
 * admission policy for pods works. This needs no node.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { objectText, type KubeObject } from '../src/kube/object.ts';
import { TENANT, tenantInput } from '../src/plan/testing/inputs.ts';
import { canonicalQuantity } from '../src/tenant/quantity.ts';
import { cleanupObjects, tenantObjects } from '../src/tenant/tenant-objects.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';

const HOST = 'blue.k8s.example.com';
const INJECTED = [
  { name: 'KUBERNETES_SERVICE_HOST', value: HOST },
  { name: 'KUBERNETES_SERVICE_PORT', value: '443' },
];

interface Container {
  readonly name: string;
  readonly env?: readonly object[];
  readonly resources?: { readonly limits: Readonly<Record<string, string>> };
}

interface ObservedObject {
  readonly metadata: { readonly generation: number };
  readonly status?: { readonly observedGeneration?: number };
}

let world: World;
let tenant: Cluster;

beforeAll(async () => {
  const tenants = { a: { workers: 0, konnectivity: false } } as const;
  const management = { workers: 0 };
  world = await World.start({ tenants, management }, { progress: terminalProgress() });
  tenant = world.tenant('a');
});

afterAll(async () => world?.stop());

const nodes = Array.from({ length: 1200 }, (_, index) => ({
  name: `node-${index}`,
  addresses: [`10.1.${index >> 8}.${index & 0xff || 1}`],
  ready: index % 3 !== 0,
}));

describe.each([
  ['virtual', tenantInput({ directInjection: true, resources: { limits: { memory: '1024Mi' } } })],
  ['node', tenantInput({ address: 'Node' }, { tenant: { ...TENANT, nodes } })],
  ['virtual during cleanup', { ...tenantInput(), isCleanup: true }],
] as const)('with address %s', (_address, input) => {
  const objects = 'isCleanup' in input ? cleanupObjects(input) : tenantObjects(input);

  test('an API server accepts the objects and returns all fields', async () => {
    await apply(objects);

    for (const object of objects) expect(await read(object)).toMatchObject({ ...object });
  });

  test('applying again changes nothing', async () => {
    for (const object of objects) await untilObserved(object);
    const before = await Promise.all(objects.map(versionOf));

    await apply(objects);

    expect(await Promise.all(objects.map(versionOf))).toEqual(before);
  });
});

test.each([
  ...['10m', '0.5', '.5', '1.', '1000m', '1500m', '2', '1000', '1000k', '1024', '007', '1e3'],
  ...['32Mi', '1024Mi', '1.5Gi', '0.5Gi', '0.5Ki', '1000Mi', '1.0001Ki', '1n', '0', '0Mi'],
])('an API server formats the quantity %s like Snicket', async (quantity) => {
  expect(canonicalQuantity(quantity)).toBe((await servedQuantity(quantity)) ?? '');
});

describe('direct injection', () => {
  beforeAll(async () => {
    await apply(tenantObjects(tenantInput({ directInjection: true })));
    for (const [name, labels] of [
      ['not-injected', { 'snicket.dev/inject': 'false' }],
      ['plain', {}],
    ] as const) {
      await tenant.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
      // Pods are refused until their namespace has the service account.
      const account = async () => tenant.get('serviceaccount', 'default', name);
      await waitFor(`${name} has its default service account`, account);
    }
    await waitFor('the policy is active', async () => {
      const { containers } = await admitPod({ containers: [{ name: 'main' }] });
      return containers[0]?.env !== undefined;
    });
  });

  test('adds host and port to every container, and keeps its other variables', async () => {
    const userVariable = { name: 'MINE', value: '1' };
    const pod = await admitPod({
      initContainers: [{ name: 'first' }, { name: 'sidecar', env: [userVariable] }],
      containers: [{ name: 'main' }, { name: 'other', env: [userVariable] }],
    });

    expect(pod.containers.map(({ env }) => env)).toEqual([INJECTED, [userVariable, ...INJECTED]]);
    expect(pod.initContainers?.map(({ env }) => env)).toEqual([
      INJECTED,
      [userVariable, ...INJECTED],
    ]);
  });

  test.each(['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'])(
    'skips only a container that sets %s itself',
    async (name) => {
      const env = [{ name, value: 'mine' }];

      const pod = await admitPod({ containers: [{ name: 'main', env }, { name: 'other' }] });

      expect(pod.containers.map((container) => container.env)).toEqual([env, INJECTED]);
    },
  );

  test('admits a pod that sets a variable twice', async () => {
    const duplicates = ['1', '2'].map((value) => ({ name: 'MINE', value }));

    const pod = await admitPod({ containers: [{ name: 'main', env: duplicates }] });

    expect(pod.containers[0]?.env).toEqual(expect.arrayContaining(duplicates));
  });

  test.each([
    ['with hostNetwork', { hostNetwork: true }, {}, 'plain'],
    ['with the label snicket.dev/inject=false', {}, { 'snicket.dev/inject': 'false' }, 'plain'],
    ['in a namespace with that label', {}, {}, 'not-injected'],
    ['in kube-system', {}, {}, 'kube-system'],
  ] as const)('does not change a pod %s', async (_description, spec, labels, namespace) => {
    const pod = await admitPod({ ...spec, containers: [{ name: 'main' }] }, namespace, labels);

    expect(pod.containers[0]?.env).toBeUndefined();
  });
});

async function apply(objects: readonly KubeObject[]): Promise<void> {
  await tenant.apply(...objects);
}

async function read({ kind, apiVersion, metadata }: KubeObject): Promise<KubeObject | undefined> {
  const [version = '', group] = apiVersion.split('/').toReversed();
  const resource = group === undefined ? kind : `${kind}.${version}.${group}`;
  return tenant.get<KubeObject>(resource, metadata.name, metadata.namespace);
}

/** Waits until the controller of an object, if any, has written its status, because that changes the version too. */
async function untilObserved(object: KubeObject): Promise<void> {
  await waitFor(`${objectText(object)} is observed`, async () => {
    const { metadata, status } = ((await read(object)) ?? {}) as Partial<ObservedObject>;
    return object.kind !== 'DaemonSet' || status?.observedGeneration === metadata?.generation;
  });
}

async function versionOf(object: KubeObject): Promise<string> {
  return `${objectText(object)} ${(await read(object))?.metadata.resourceVersion}`;
}

/** Returns a quantity as the server returns it. */
async function servedQuantity(memory: string): Promise<string | undefined> {
  const resources = { limits: { memory } };
  const { containers } = await admitPod({ containers: [{ name: 'main', resources }] }, 'default');
  return containers[0]?.resources?.limits['memory'];
}

/** Returns a pod as the server would store it. */
async function admitPod(
  spec: { containers: readonly Container[]; initContainers?: readonly Container[] },
  namespace = 'plain',
  labels: Readonly<Record<string, string>> = {},
): Promise<typeof spec> {
  const withImage = (container: Container) => ({ image: 'example.com/none:1', ...container });
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'pod-', namespace, labels },
    spec: {
      ...spec,
      containers: spec.containers.map(withImage),
      initContainers: spec.initContainers?.map(withImage),
      automountServiceAccountToken: false,
    },
  };
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const response = await tenant.controlPlane.request('POST', path, pod);
  const answer = await response.text();
  if (!response.ok) throw new Error(`the pod was refused: ${answer}`);
  return (JSON.parse(answer) as { spec: typeof spec }).spec;
}
