import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { ManualClock } from '../../clock/manual-clock.ts';
import type { PreparePolicy } from '../../api/exposure.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { ApiObject } from '../../kube/store/object-store.ts';
import type { PreparationSpec } from '../../providers/preparation/preparation.ts';
import { providerFor, resourceOfProvider } from '../../providers/provider-for.ts';
import {
  changed,
  clusterDeployment,
  newTenantControlPlane,
  k0smotronCluster,
  k0smotronControlPlane,
} from '../../providers/testing/provider-objects.ts';
import { Preparer } from './preparer.ts';
import { restore } from './restore.ts';
import { PreparationLab } from './testing/preparation-lab.ts';

setDefaultTimeout(240_000);

const RUNS = 60;
const NAME = 'green';

/** Names of hosts. The user may have written the first one, and the spec may have it too. */
const HOSTS = [NAME, 'other', 'third'];

function specFor(host: string): PreparationSpec {
  const hosts = {
    api: `${host}.k8s.example.test`,
    konnectivity: `${host}.konnectivity.example.test`,
  };
  return { hosts, port: 443 };
}

/** Generates objects with any subset of these fields. */
function subsetOf(
  fields: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  return fc.record(fields, { requiredKeys: [] });
}

const OWN_HOST = `${NAME}.k8s.example.test`;
const listOf = (...entries: readonly unknown[]) => fc.subarray([...entries]);

const TENANT_FIELDS = subsetOf({
  'spec.networkProfile.certSANs': listOf('a.example.test', '10.0.0.1', OWN_HOST),
  'spec.controlPlane.deployment.extraArgs': fc.oneof(
    fc.constant({ scheduler: ['--v=2'] }),
    fc.record({
      apiServer: fc
        .tuple(listOf('--audit-log-path=-', '--v=2'), fc.constantFrom([], ['lease'], ['none']))
        .map(([flags, types]) => [
          ...flags,
          ...types.map((type) => `--endpoint-reconciler-type=${type}`),
        ]),
    }),
  ),
  'spec.controlPlane.ingress': fc.constantFrom(
    { ingressClassName: 'nginx', hostname: 'own.example.test' },
    { hostname: `${OWN_HOST}:443`, ingressClassName: 'snicket-unhandled' },
    { hostname: OWN_HOST, ingressClassName: 'snicket-unhandled' },
    { additionalMetadata: { labels: { a: 'b' } } },
  ),
  'spec.addons.konnectivity': fc.constantFrom(undefined, { agent: { extraArgs: ['--v=4'] } }),
});

const K0S_FIELDS = subsetOf({
  'spec.patches': listOf(
    { target: { kind: 'StatefulSet', component: 'x' }, patch: { type: 'merge', content: '{}' } },
    { target: { kind: 'ConfigMap', component: 'y' }, patch: { type: 'json', content: '[]' } },
  ),
  'spec.externalAddress': fc.constantFrom('203.0.113.1', OWN_HOST),
  'spec.ingress': fc.constantFrom(
    { deploy: true, apiHost: 'x.example', konnectivityHost: 'y.example', port: 443 },
    { apiHost: OWN_HOST, konnectivityHost: 'y.example', annotations: { a: 'b' } },
  ),
});

const CHART_FIELDS = subsetOf({
  'spec.config.ingress': fc.constantFrom({ enabled: false }, { enabled: true, className: 'x' }),
  'spec.config.k0smotron': fc.constantFrom({ service: { type: 'LoadBalancer' } }, { other: 1 }),
});

const OBJECTS: fc.Arbitrary<readonly KubeObject[]> = fc.oneof(
  fc
    .tuple(fc.constantFrom('kamaji' as const, 'steward' as const), TENANT_FIELDS)
    .map(([of, fields]) => [changed(newTenantControlPlane(of, NAME), fields)]),
  fc
    .tuple(fc.constantFrom(k0smotronCluster, k0smotronControlPlane), K0S_FIELDS)
    .map(([make, fields]) => [changed(make(NAME), fields)]),
  fc
    .tuple(
      fc.constantFrom('openstack-hosted-cp-1-0-40', 'hetzner-hosted-cp-1-3-17', 'own-1'),
      ...([CHART_FIELDS, K0S_FIELDS] as const),
    )
    .map(([template, chart, fields]) => [
      changed(clusterDeployment(NAME, template), chart),
      changed(k0smotronControlPlane(NAME), fields),
    ]),
);

const STEPS = fc.array(
  fc.record({
    policy: fc.constantFrom<PreparePolicy>('Force', 'Patch', 'Report'),
    host: fc.constantFrom(...HOSTS),
    previous: fc.subarray(HOSTS, { maxLength: 1 }),
    // The process stops after this many writes.
    writes: fc.option(fc.nat({ max: 4 }), { nil: Number.POSITIVE_INFINITY }),
  }),
  { minLength: 1, maxLength: 4 },
);

describe('a deleted Exposure, after any sequence of specs', () => {
  let lab: PreparationLab;
  beforeAll(async () => {
    lab = await PreparationLab.start();
  });
  afterAll(async () => lab[Symbol.asyncDispose]());

  const currentObjects = (objects: readonly KubeObject[]): readonly ApiObject[] =>
    objects.flatMap((object) => lab.server.read(resourceOfProvider(object), object.metadata) ?? []);

  test('leaves the fields of the user unchanged and none of Snicket, even if processes stop at any write', async () => {
    const ways = fc.constantFrom('create', 'apply', 'without owners');
    const ends = fc.array(fc.nat({ max: 5 }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(OBJECTS, ways, STEPS, ends, async (objects, way, steps, restarts) => {
        const provider = providerFor(objects[0]!)!.name;
        await put(lab, objects, way);
        const before = currentObjects(objects).map(content);
        const signal = AbortSignal.timeout(200_000);

        for (const { policy, host, previous, writes } of steps) {
          const previousHosts = previous.map((name) => `${name}.k8s.example.test`);
          const spec = { ...specFor(host), previousHosts };
          const provided = { provider, objects: currentObjects(objects) };
          const preparer = new Preparer(stoppingClient(lab.client, writes), {
            clock: new ManualClock(),
          });
          const input = { policy, provided, spec, owner: lab.owner() };
          await ignoreStop(preparer.prepare(input, signal));
        }
        const servedAs = (resource: Resource) => resource;
        const input = { exposure: lab.exposure(), servedAs, objects: READS, isLate: true };
        for (const writes of restarts) {
          await ignoreStop(restore(stoppingClient(lab.client, writes), input, signal));
        }
        const waiting = await restore(lab.client, input, signal);

        const after = currentObjects(objects);
        await remove(lab, objects);
        expect(waiting).toBeUndefined();
        expect(lab.record()).toBeUndefined();
        expect(after.map(content)).toEqual(before);
        expect(after.flatMap(ownersOf)).not.toContain('snicket');
      }),
      { numRuns: RUNS },
    );
  });
});

class ProcessStopped extends Error {}

/** Returns the client of a process that stops after this many writes. */
function stoppingClient(client: KubeClient, writes: number): KubeClient {
  let left = writes;
  return new Proxy(client, {
    get(target, name: 'get' | 'apply' | 'patch') {
      const call = target[name].bind(target) as (...args: unknown[]) => Promise<unknown>;
      if (name === 'get') return call;
      return async (...args: unknown[]) => {
        if (left-- <= 0) throw new ProcessStopped();
        return call(...args);
      };
    },
  });
}

async function ignoreStop(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof ProcessStopped)) throw error;
  });
}

const READS = {
  service: () => undefined,
  secret: async () => undefined,
  object: async () => undefined,
};

async function put(
  { user }: PreparationLab,
  objects: readonly KubeObject[],
  way: string,
): Promise<void> {
  for (const object of objects.map(bare)) {
    const resource = resourceOfProvider(object);
    if (way === 'apply') await user.apply(object, { resource });
    else await user.create(resource, object);
    // An object that a backup or a user has restored can have no managed fields.
    const reset = { metadata: { managedFields: [{}] } };
    if (way === 'without owners') await user.patch(resource, object.metadata, 'merge', reset);
  }
}

async function remove({ user }: PreparationLab, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) await user.delete(resourceOfProvider(object), object.metadata);
}

function bare({ metadata, ...object }: KubeObject): KubeObject {
  const { uid: _uid, resourceVersion: _version, ...rest } = metadata;
  return { ...object, metadata: rest };
}

function content({ metadata, ...object }: ApiObject): unknown {
  return { ...object, annotations: metadata.annotations ?? {} };
}

function ownersOf({ metadata }: KubeObject): readonly (string | undefined)[] {
  return (metadata.managedFields ?? []).map(({ manager }) => manager);
}
