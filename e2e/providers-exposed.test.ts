/**
 * One annotation on the object of a real provider, and nothing else: its pods reach their own API by the shared address.
 * Without the annotation the object is as its user wrote it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ClusterApi } from '../world/cluster/cluster-api.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { providerParts } from '../world/parts/catalogue.ts';
import { ensureParts } from '../world/parts/parts.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { joinTenant } from '../world/providers/join.ts';
import { startProvider, type Provider } from '../world/providers/provider.ts';
import { letTenantsRun } from '../world/providers/tenants.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';
import { EDGE_ADDRESS, installSnicket, snicketEdge, type Exposure } from './installed-snicket.ts';
import { snicketImage } from './snicket-image.ts';
import { homeOf, makeHome, namespacesSeenBy, namespacesSeenByName } from './whose-api.ts';

const NAMESPACE = 'tenants';
const DOMAIN = 'snicket.test';

let world: World;

beforeAll(async () => {
  const progress = terminalProgress();
  await ensureParts(Object.values(providerParts), progress);
  world = await World.start({}, { progress });
  await installSnicket(world, progress);
  const edge = snicketEdge() as { spec: object };
  await world.management.apply({ ...edge, spec: { ...edge.spec, domain: DOMAIN } });
  await world.management.kubectl('create', 'namespace', NAMESPACE);
}, 1_800_000);

afterAll(async () => world?.stop());

describe.each(['kamaji', 'steward'] as const)('a tenant of %s', (name) => {
  const tenant = `${name}-blue`;
  const hosts = {
    api: `${NAMESPACE}-${tenant}.k8s.${DOMAIN}`,
    konnectivity: `${NAMESPACE}-${tenant}.konnectivity.${DOMAIN}`,
  };
  let provider: Provider;
  /** As the provider itself fills it in. */
  let before: unknown;
  let cluster: Cluster<ClusterApi>;
  let pod: Pod;

  beforeAll(async () => {
    provider = await startProvider(world, name, { progress: terminalProgress() });
    await letTenantsRun(world, provider);
    for (const host of Object.values(hosts)) world.dns.set(host, EDGE_ADDRESS);
    await world.management.apply(tenantControlPlane(provider, tenant));
    before = await waitFor('the provider has filled it in', specOf);
  }, 180_000);

  test('is exposed by an annotation on its own object', async () => {
    await annotate('snicket.dev/edge=shared');

    const exposure = await waitFor('it is prepared and routed', async () => {
      const found = await world.management.get<Exposure>('exposure', tenant, NAMESPACE);
      return holds(found, 'Prepared') && holds(found, 'Routed') && found;
    });

    expect(exposure.status?.driver).toBe('snicket');
  }, 120_000);

  test('has certificates and kubeconfigs for the shared address, once what the report says is done', async () => {
    await waitFor(
      'nothing is left to be done',
      async () => {
        const commands = await advisedCommands();
        for (const [program, ...words] of commands) {
          expect(program).toBe('kubectl');
          await world.management.kubectl(...words, '--ignore-not-found');
        }
        return commands.length === 0 && holds(await exposureNow(), 'Reachable');
      },
      { deadlineMs: 300_000, everyMs: 2_000 },
    );
  }, 330_000);

  test('takes workers by the shared address', async () => {
    await waitFor(
      'the control plane is Ready',
      async () => {
        const path = '{.status.kubernetesResources.version.status}';
        const at = [`--namespace=${NAMESPACE}`, `--output=jsonpath=${path}`];
        return (
          (await world.management.kubectl('get', provider.resource, tenant, ...at)) === 'Ready'
        );
      },
      { deadlineMs: 150_000, everyMs: 500 },
    );

    cluster = await joinTenant(world, provider, { tenant, namespace: NAMESPACE, hosts });

    await world.image(await snicketImage(terminalProgress()));
    await makeHome(cluster);
    pod = await cluster.runPod();
  }, 300_000);

  test('leads its pods to their own API, by address and by name', async () => {
    await waitFor('the Exposure is Ready', isReady, { deadlineMs: 150_000, everyMs: 500 }).catch(
      async (error: unknown) => {
        const at = [`--namespace=${NAMESPACE}`, '--output=yaml'];
        throw new Error(
          `${String(error)}\n${await world.management.kubectl('get', 'exposure', tenant, ...at)}`,
        );
      },
    );

    const seen = await waitFor('kube-proxy has the endpoints', async () =>
      namespacesSeenBy(pod).catch(() => undefined),
    );

    expect(seen).toContain(homeOf(cluster));
    expect(await namespacesSeenByName(pod)).toContain(homeOf(cluster));
  }, 240_000);

  test('lets its API server reach its nodes: logs and exec', async () => {
    await cluster.nodesReached();

    expect(await pod.exec('echo', 'through the agents')).toBe('through the agents\n');
  }, 120_000);

  test('is as it was, field by field, when the annotation is gone', async () => {
    await annotate('snicket.dev/edge-');

    await waitFor(
      'the Exposure is gone',
      async () =>
        (await world.management.get<Exposure>('exposure', tenant, NAMESPACE)) === undefined,
      { deadlineMs: 180_000, everyMs: 500 },
    );

    // Both fill in empty blocks whenever somebody writes.
    expect(withoutEmpty(await specOf())).toEqual(withoutEmpty(before));
    const { metadata } = await objectOf();
    expect(Object.keys(metadata.annotations ?? {}).filter((key) => /snicket/.test(key))).toEqual(
      [],
    );
  }, 240_000);

  async function annotate(words: string): Promise<void> {
    const at = `--namespace=${NAMESPACE}`;
    await world.management.kubectl('annotate', provider.resource, tenant, words, at);
  }

  async function objectOf(): Promise<Live> {
    const found = await world.management.get<Live>(provider.resource, tenant, NAMESPACE);
    if (found === undefined) throw new Error(`${provider.resource} ${tenant} is gone`);
    return found;
  }

  async function specOf(): Promise<unknown> {
    return (await objectOf()).spec;
  }

  async function exposureNow(): Promise<Exposure | undefined> {
    return world.management.get<Exposure>('exposure', tenant, NAMESPACE);
  }

  /** Kamaji keeps a certificate that is there already: the report has the command that lets it make another. */
  async function advisedCommands(): Promise<readonly string[][]> {
    const { conditions = [] } = (await exposureNow())?.status ?? {};
    const message = conditions.find(({ type }) => type === 'Prepared')?.message ?? '';
    return [...message.matchAll(/kubectl delete -n \S+ secret [^\s;,]+/g)].map(([text]) =>
      text.split(' '),
    );
  }

  async function isReady(): Promise<boolean> {
    return holds(await exposureNow(), 'Ready');
  }
});

interface Live {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: unknown;
}

function holds(exposure: Exposure | undefined, condition: string): boolean {
  const found = exposure?.status?.conditions?.find(({ type }) => type === condition);
  return found?.status === 'True';
}

/** Without blocks in which nothing is. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .map(([key, inner]) => [key, withoutEmpty(inner)] as const)
    .filter(([, inner]) => !Bun.deepEquals(inner, {}));
  return Object.fromEntries(kept);
}

/** What a user writes who has never heard of Snicket. */
function tenantControlPlane(provider: Provider, name: string): object {
  return {
    apiVersion: provider.apiVersion,
    kind: 'TenantControlPlane',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      dataStore: provider.dataStore,
      controlPlane: {
        // Without it, the defaults of Steward are a patch that the API server cannot apply.
        deployment: { replicas: 1 },
        service: { serviceType: 'ClusterIP' },
      },
      kubernetes: { version: provider.versions.kubernetes, kubelet: { cgroupfs: 'cgroupfs' } },
      networkProfile: { port: 6443 },
      addons: { konnectivity: { server: { port: 8132 }, agent: {} } },
    },
  };
}
