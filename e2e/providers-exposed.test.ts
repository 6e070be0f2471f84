/**
 * With one annotation on the object of a real provider, the pods of the tenant reach their own API server through the
 * shared address. Removing the annotation restores the object.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { KubeObject } from '../src/kube/object.ts';
import type { Secret } from '../src/providers/reading/control-plane-reading.ts';
import type { ClusterApi } from '../world/cluster/cluster-api.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { providerParts } from '../world/parts/catalog.ts';
import { ensureParts } from '../world/parts/parts.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { joinTenant } from '../world/providers/join.ts';
import { startProvider, type Provider } from '../world/providers/provider.ts';
import { prepareTenantPods } from '../world/providers/tenants.ts';
import { repository } from '../world/repository.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';
import {
  EDGE_ADDRESS,
  installSnicket,
  snicketEdge,
  SYSTEM_NAMESPACE,
  type Exposure,
} from './installed-snicket.ts';
import { ProvidedControlPlane } from './provided-control-plane.ts';
import { snicketImage } from './snicket-image.ts';
import {
  homeNamespace,
  createHomeNamespace,
  namespacesFirstSeenBy,
  namespacesSeenByName,
} from './namespaces.ts';

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
  /** The spec with the provider's own defaults. */
  let before: unknown;
  let cluster: Cluster<ClusterApi>;
  let pod: Pod;

  beforeAll(async () => {
    provider = await startProvider(world, name, { progress: terminalProgress() });
    await prepareTenantPods(world, provider);
    for (const host of Object.values(hosts)) world.dns.set(host, EDGE_ADDRESS);
    await world.management.apply(tenantControlPlane(provider, tenant));
    before = await waitFor('the provider has set defaults', specOf);
  });

  test('is exposed by an annotation on its object', async () => {
    await annotate('snicket.dev/edge=shared');

    const routed = async () => {
      const found = await currentExposure();
      const { annotations = {} } = found?.metadata ?? {};
      return 'snicket.dev/preparation' in annotations && holds(found, 'Routed') && found;
    };
    const exposure = await waitFor('it is prepared and routed', routed, {
      deadlineMs: 150_000,
      everyMs: 500,
    }).catch(withExposure);

    expect(exposure.status?.driver).toBe('snicket');
  });

  test('equals a control plane after a user has applied the YAML of prepare: Report', async () => {
    const other = `${name}-hand`;
    const written = tenantControlPlane(provider, other);
    await world.management.apply(written);
    const controlPlane = new ProvidedControlPlane(world.management, written);
    await controlPlane.expose('shared', 'Report');
    await controlPlane.until('Prepared', 'False PreparationRequired');
    const untouched = await controlPlane.fields();

    const yaml = await controlPlane.report();
    // With another field manager than the object, because this YAML is only a part of the object.
    const args = ['apply', '--server-side', '--field-manager=git', '--filename=-'];
    await world.management.controlPlane.kubectl(args, yaml);

    await controlPlane.untilNot('Prepared', 'False PreparationRequired');
    const [byHand] = await controlPlane.fields();
    const renamed = JSON.stringify(byHand)
      .replaceAll(other, tenant)
      // Names in the data store have underscores instead of dashes.
      .replaceAll(other.replaceAll('-', '_'), tenant.replaceAll('-', '_'));
    const { spec } = JSON.parse(renamed) as LiveObject;
    expect(withoutEmpty(spec)).toEqual(withoutEmpty(await specOf()));
    expect(byHand).not.toEqual(untouched[0]);
    // Deletes the tenant first, so that the Exposure has nothing to clean up.
    const at = [`--namespace=${NAMESPACE}`, '--timeout=100s'];
    await world.management.kubectl('delete', provider.resource, other, ...at);
    await controlPlane.unexpose();
  });

  test('has certificates and kubeconfigs for the shared address after the reported commands', async () => {
    await waitFor(
      'the report has no more commands',
      async () => {
        const commands = await advisedCommands();
        for (const [program, ...args] of commands) {
          expect(program).toBe('kubectl');
          await world.management.kubectl(...args, '--ignore-not-found');
        }
        const exposure = await currentExposure();
        return commands.length === 0 && holds(exposure, 'Prepared') && holds(exposure, 'Reachable');
      },
      { deadlineMs: 300_000, everyMs: 2_000 },
    ).catch(withExposure);
  });

  test('workers join through the shared address', async () => {
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

    await world.importImage(await snicketImage(terminalProgress()));
    await createHomeNamespace(cluster);
    pod = await cluster.runPod();
  });

  test('its pods reach their own API server by address and by name', async () => {
    await waitFor('the Exposure is Ready', isReady, { deadlineMs: 150_000, everyMs: 500 }).catch(
      withExposure,
    );

    // Requests to a pod use konnectivity, whose agents need a while to reconnect to a recreated API server.
    const namespaces = await namespacesFirstSeenBy(pod, 'kube-proxy has the endpoints', {
      deadlineMs: 120_000,
      everyMs: 500,
    });

    expect(namespaces).toContain(homeNamespace(cluster));
    expect(await namespacesSeenByName(pod)).toContain(homeNamespace(cluster));
  });

  test('its API server reaches its nodes: logs and exec', async () => {
    await cluster.untilNodesReachable();

    expect(await pod.exec('echo', 'through the agents')).toBe('through the agents\n');
  });

  test('every field and the kubeconfig are restored when the annotation is removed', async () => {
    await letSnicketRenewSecrets();

    await annotate('snicket.dev/edge-');

    await waitFor(
      'the Exposure is gone',
      async () =>
        (await world.management.get<Exposure>('exposure', tenant, NAMESPACE)) === undefined,
      { deadlineMs: 180_000, everyMs: 500 },
    );

    // Both providers add empty blocks with every write.
    expect(withoutEmpty(await specOf())).toEqual(withoutEmpty(before));
    const { metadata } = await objectOf();
    expect(Object.keys(metadata.annotations ?? {}).filter((key) => /snicket/.test(key))).toEqual(
      [],
    );
    await waitFor(
      'its kubeconfig has another address',
      async () => {
        const kubeconfig = await publishedKubeconfig();
        return kubeconfig.includes('server: ') && !kubeconfig.includes(hosts.api);
      },
      { deadlineMs: 150_000, everyMs: 500 },
    ).catch(withEvents);
  });

  /** Grants the permissions of docs/tasks/permissions.md. */
  async function letSnicketRenewSecrets(): Promise<void> {
    const role = 'snicket-renew-secrets';
    const manifest = join(repository, 'deploy', 'optional', 'renew-secrets.yaml');
    await world.management.kubectl('apply', `--filename=${manifest}`);
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: role, namespace: NAMESPACE },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name: 'snicket-operator', namespace: SYSTEM_NAMESPACE }],
    };
    await world.management.apply(binding);
  }

  /** Returns the kubeconfig that the provider publishes; empty while it creates another. */
  async function publishedKubeconfig(): Promise<string> {
    const name = `${tenant}-admin-kubeconfig`;
    const secret = await world.management.get<Secret>('secret', name, NAMESPACE);
    return Buffer.from(secret?.data?.['admin.conf'] ?? '', 'base64').toString();
  }

  async function annotate(args: string): Promise<void> {
    const at = `--namespace=${NAMESPACE}`;
    await world.management.kubectl('annotate', provider.resource, tenant, args, at);
  }

  async function objectOf(): Promise<LiveObject> {
    const found = await world.management.get<LiveObject>(provider.resource, tenant, NAMESPACE);
    if (found === undefined) throw new Error(`${provider.resource} ${tenant} is gone`);
    return found;
  }

  async function specOf(): Promise<unknown> {
    return (await objectOf()).spec;
  }

  async function currentExposure(): Promise<Exposure | undefined> {
    return world.management.get<Exposure>('exposure', tenant, NAMESPACE);
  }

  /** Returns the commands in the report. Kamaji keeps an existing certificate until a user deletes its Secret. */
  async function advisedCommands(): Promise<readonly string[][]> {
    const { conditions = [] } = (await currentExposure())?.status ?? {};
    const message = conditions.find(({ type }) => type === 'Prepared')?.message ?? '';
    return [...message.matchAll(/kubectl delete -n \S+ secret [\w-]+/g)].map(([text]) =>
      text.split(' '),
    );
  }

  /** Throws the error with the Exposure. */
  async function withExposure(error: unknown): Promise<never> {
    const at = [`--namespace=${NAMESPACE}`, '--output=yaml'];
    const yaml = await world.management.kubectl('get', 'exposure', tenant, ...at);
    throw new Error(`${String(error)}\n${yaml}`);
  }

  /** Throws the error with the events of the namespace. */
  async function withEvents(error: unknown): Promise<never> {
    const at = [`--namespace=${NAMESPACE}`, '--output=wide', '--sort-by=.lastTimestamp'];
    throw new Error(`${String(error)}\n${await world.management.kubectl('get', 'events', ...at)}`);
  }

  async function isReady(): Promise<boolean> {
    const exposure = await currentExposure();
    return ['Ready', 'KonnectivityReady', 'Reachable'].every((type) => holds(exposure, type));
  }
});

interface LiveObject {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: unknown;
}

function holds(exposure: Exposure | undefined, condition: string): boolean {
  const found = exposure?.status?.conditions?.find(({ type }) => type === condition);
  return found?.status === 'True';
}

/** Removes empty blocks. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .map(([key, inner]) => [key, withoutEmpty(inner)] as const)
    .filter(([, inner]) => !Bun.deepEquals(inner, {}));
  return Object.fromEntries(entries);
}

/** Returns a TenantControlPlane as a user writes it without Snicket. */
function tenantControlPlane(provider: Provider, name: string): KubeObject {
  const object = {
    apiVersion: provider.apiVersion,
    kind: 'TenantControlPlane',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      dataStore: provider.dataStore,
      controlPlane: {
        // Without it, Steward's defaults are a patch that the API server cannot apply.
        deployment: { replicas: 1 },
        service: { serviceType: 'ClusterIP' },
      },
      kubernetes: { version: provider.versions.kubernetes, kubelet: { cgroupfs: 'cgroupfs' } },
      networkProfile: { port: 6443 },
      addons: { konnectivity: { server: { port: 8132 }, agent: {} } },
    },
  };
  return object;
}
