/**
 * Events that must not affect users: added and removed tenants, killed components and manual changes. In the end,
 * cleanup restores every object.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../world/cluster/cluster.ts';
import { writeCredential } from '../world/cluster/pki.ts';
import type { Pod } from '../world/cluster/pod.ts';
import type { Daemon } from '../world/machine/daemon.ts';
import { program } from '../world/parts/parts.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT } from '../world/spec.ts';
import { tenantNamespace } from '../world/tenant-service.ts';
import { waitFor, type WaitOptions } from '../world/wait.ts';
import { World, type NetworkHost } from '../world/world.ts';
import {
  restartAgents,
  untilReachable,
  exposureOf,
  installSnicket,
  pointToEdge,
  snicketEdge,
  SYSTEM_NAMESPACE,
} from './installed-snicket.ts';
import { allObjects, type ObjectTexts } from './all-objects.ts';
import { homeNamespace, createHomeNamespace, namespacesFirstSeenBy } from './namespaces.ts';
import { expectRestored } from './shared-checks.ts';

const TENANTS = ['a', 'b'] as const;

let world: World;
let laptop: NetworkHost;
const pods = new Map<string, Pod>();
const before = new Map<string, ObjectTexts>();

beforeAll(async () => {
  const progress = terminalProgress();
  world = await World.start({ tenants: { a: {}, b: { proxyMode: 'iptables' } } }, { progress });
  laptop = await world.addHost('laptop');
  await installSnicket(world, progress);
  await world.management.apply(snicketEdge());
  for (const name of TENANTS) {
    const tenant = world.tenant(name);
    pointToEdge(world, tenant);
    await createHomeNamespace(tenant);
    pods.set(name, await tenant.runPod());
  }
  for (const cluster of clusters())
    before.set(cluster.name, await allObjects(cluster, SYSTEM_NAMESPACE));
  for (const name of TENANTS) await world.management.apply(exposureOf(world.tenant(name)));
  for (const name of TENANTS) {
    await untilReachable(world, world.tenant(name));
    await restartAgents(world.tenant(name));
  }
});

afterAll(async () => world?.stop());

test('adding and removing a tenant fifty times closes no watch and no tunnel of another tenant', async () => {
  const pod = podOf('a');
  const watches = await openWatches('a', 100);
  const tunnel = await openTunnel('a');

  for (let round = 0; round < 50; round++) {
    await world.management.apply(temporaryExposure());
    await waitFor('it is routed', async () => (await routedHost('passing')) !== undefined, SOON);
    await world.management.kubectl(
      ...['delete', 'exposure', 'passing', `--namespace=${tenantNamespace('b')}`, '--wait=false'],
    );
    await waitFor('it is gone', async () => (await exposure('passing')) === undefined, SOON);
  }

  expect(watches.tail(2000)).not.toContain('ended');
  expect(await pod.exec('echo', 'still there')).toBe('still there\n');
  expect(tunnel.running).toBe(true);
  await watches.kill();
  await tunnel.kill();
});

test.each([
  ['operator', 'stay open', async () => killOperators()],
  ['gateway', 'end', async () => killContainers(world.management, 'snicket-gateway')],
  ['proxy', 'stay open', async () => killContainers(world.tenant('a'), 'snicket-proxy')],
  ["tenant's API server", 'end', async () => restartApiServer(world.tenant('a'))],
])(
  'kill -9 of the %s with 200 watches, which %s: all pods reach their own API server soon after the restart',
  async (_part, expectedWatches, killAndWait) => {
    const watches = await openWatches('a', 200);

    await killAndWait();

    await Promise.all([
      ...TENANTS.map(async (name) => {
        const other = homeNamespace(world.tenant(name === 'a' ? 'b' : 'a'));
        const namespaces = await namespacesFirstSeenBy(
          podOf(name),
          `pods of ${name} reach their API`,
          SOON_AFTER,
        );
        expect(namespaces).toContain(homeNamespace(world.tenant(name)));
        expect(namespaces).not.toContain(other);
      }),
      waitFor(
        '200 watches are open again',
        async () => openWatches('a', 200, ONE_ATTEMPT).catch(() => undefined),
        SOON_AFTER,
      ).then(async (again) => again.kill()),
    ]);
    // The watches are outside the cluster, so they do not use the operator or a worker's proxy.
    if (expectedWatches === 'stay open') expect(watches.tail(2000)).not.toContain('ended');
    else expect(watches.tail(2000)).toContain('ended');
    await watches.kill();
    for (const name of TENANTS) await untilReachable(world, world.tenant(name));
  },
);

test.each([
  ['a deleted slice', 'delete endpointslice kubernetes --namespace=default'],
  [
    'an edited slice',
    `patch endpointslice kubernetes --namespace=default --type=json --patch=[{"op":"replace","path":"/endpoints/0/addresses","value":["192.0.2.9"]}]`,
  ],
  ['a removed DaemonSet', 'delete daemonset snicket-proxy --namespace=kube-system'],
])('%s is detected and repaired', async (_what, command) => {
  const tenant = world.tenant('a');

  await tenant.kubectl(...command.split(' '));

  await waitFor(
    'the object is restored',
    async () => {
      const slice = await tenant.get<{ endpoints: { addresses: string[] }[] }>(
        ...(['endpointslice', 'kubernetes'] as const),
      );
      const set = await tenant.get('daemonset', 'snicket-proxy', 'kube-system');
      return slice?.endpoints[0]?.addresses[0] === '100.64.64.1' && set !== undefined;
    },
    REPAIRED,
  );
  await untilReachable(world, tenant);
  const namespaces = await namespacesFirstSeenBy(podOf('a'), 'kube-proxy has it');
  expect(namespaces).toContain(homeNamespace(tenant));
});

test('two replicas of the operator: a terminating leader releases its Lease, and the other acquires it', async () => {
  const leader = await leaseHolder();
  const pod = leader.split('_')[0] ?? '';
  const watch = await watchLease();
  const holders = () => [...watch.tail(2000).matchAll(/^holder=(.*)$/gm)].map(([, name]) => name);
  await waitFor('the watch is open', () => holders().includes(leader));

  await world.management.kubectl(
    'delete',
    'pod',
    pod,
    `--namespace=${SYSTEM_NAMESPACE}`,
    '--wait=false',
  );

  const isAnother = (name?: string) => name !== '' && name !== leader;
  const newLeader = await waitFor(
    'another replica leads',
    () => holders().find(isAnother),
    RESTARTED,
  );
  expect(newLeader).not.toStartWith(pod);
  // The Lease was released, so the next leader did not wait for its expiry.
  expect(holders()).toContain('');
  await watch.kill();
});

test('deleting all Exposures restores every object in both clusters', async () => {
  for (const name of TENANTS) {
    const namespace = `--namespace=${tenantNamespace(name)}`;
    await world.management.kubectl('delete', 'exposure', name, namespace, '--timeout=90s');
  }

  for (const cluster of clusters()) {
    await expectRestored(cluster, before.get(cluster.name), SYSTEM_NAMESPACE);
  }
  for (const name of TENANTS) {
    const addresses = await world.tenant(name).worker().exec('ip', 'address', 'show', 'dev', 'lo');
    expect(addresses).not.toContain('100.64.64.1');
  }
});

/** Usually two seconds. Clients that back off retry after half a minute, and a busy machine answers slowly. */
const SOON_AFTER = { deadlineMs: 90_000 };
/** For one attempt to open watches, so that there is time for another. */
const ONE_ATTEMPT = { deadlineMs: 45_000 };
/**
 * Usually a second. After an outage of the API server, a watch resumes within half a minute. Without watches, the next
 * reconcile would be minutes later.
 */
const REPAIRED = { deadlineMs: 60_000 };
/** For steps that take a moment and are repeated many times. */
const SOON = { everyMs: 20, deadlineMs: 30_000 };
/** For steps of kubelets and leaders, which take up to half a minute. */
const RESTARTED = { deadlineMs: 90_000 };

function clusters(): readonly Cluster[] {
  return [world.management, ...world.tenants.values()];
}

function podOf(name: string): Pod {
  const pod = pods.get(name);
  if (pod === undefined) throw new Error(`no pod in tenant ${name}`);
  return pod;
}

/** Returns an Exposure with fixed endpoints without a listener. Snicket creates its route anyway. */
function temporaryExposure(): object {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: { name: 'passing', namespace: tenantNamespace('b') },
    spec: {
      controlPlane: {
        type: 'Endpoints',
        endpoints: { api: [`${world.tenant('b').plan.address}:${API_PORT + 1}`] },
        caSecretRef: { name: 'not-there' },
        kubeconfigSecretRef: { name: 'not-there' },
      },
      hosts: { api: 'passing.k8s.snicket.test' },
    },
  };
}

async function exposure(name: string): Promise<Record<string, unknown> | undefined> {
  return world.management.get('exposure', name, tenantNamespace('b'));
}

async function routedHost(name: string): Promise<string | undefined> {
  const namespace = `--namespace=${tenantNamespace('b')}`;
  const path = `--output=jsonpath={.items[?(@.spec.exposureRef.name=="${name}")].spec.host}`;
  const hosts = await world.management.kubectl('get', 'tenantroutes', namespace, path);
  return hosts.split(' ').at(0) || undefined;
}

let watchers = 0;

/** Opens watches of a client that dials the edge by name. If not all can be opened, the others are closed. */
async function openWatches(
  name: string,
  count: number,
  options: WaitOptions = RESTARTED,
): Promise<Daemon> {
  const { plan, authority } = world.tenant(name).controlPlane;
  const folder = join(laptop.host.folder, 'files');
  writeFileSync(join(folder, 'ca.crt'), authority.certificate);
  const client = { commonName: 'watcher', organization: 'host-processes' };
  writeCredential(folder, 'watcher', await authority.issue(client));
  const script = join(repository, 'e2e', 'open-watches.ts');
  const watches = await laptop.host.start(
    `watches-${++watchers}`,
    [process.execPath, script, `https://${plan.hosts.api}`, String(count), join(folder, 'watcher')],
    { env: { BUN_CONFIG_MAX_HTTP_REQUESTS: '1000' } },
  );
  await waitFor(
    `${count} open watches`,
    () => {
      if (!watches.running) throw new Error(`the watches ended:\n${watches.tail()}`);
      return /^open$/m.test(watches.tail(2000));
    },
    options,
  ).catch(async (error: unknown) => {
    await watches.kill();
    throw error;
  });
  return watches;
}

interface ContainerStatus {
  readonly containerID?: string;
  readonly ready: boolean;
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: {
      readonly containerStatuses?: readonly ContainerStatus[];
    };
  }[];
}

async function podsWith(cluster: Cluster, selector: string): Promise<PodList['items']> {
  const text = await cluster.kubectl(
    ...['get', 'pods', '--all-namespaces', `--selector=${selector}`, '--output=json'],
  );
  return (JSON.parse(text) as PodList).items;
}

/** Runs a command in a pod through the konnectivity agent. It ends when the tunnel breaks. */
async function openTunnel(name: string): Promise<Daemon> {
  const { controlPlane } = world.tenant(name);
  const kubectl = [program('kubectl'), `--kubeconfig=${controlPlane.kubeconfig}`];
  const script = 'echo open; sleep 1000';
  const tunnel = await controlPlane.host.start('tunnel', [
    ...[...kubectl, 'exec', podOf(name).name, '--', 'sh', '-c', script],
  ]);
  await waitFor('the tunnel is open', () => tunnel.tail().includes('open'));
  return tunnel;
}

/** Kills every container of the pods of this name with SIGKILL, and waits until kubelet has restarted all of them. */
async function killContainers(cluster: Cluster, name: string): Promise<void> {
  const selector = `app.kubernetes.io/name=${name}`;
  const killed = new Set<string>();
  for (const { containerID = '' } of containersOf(await podsWith(cluster, selector))) {
    const id = containerID.replace(/^containerd:\/\//, '');
    killed.add(containerID);
    await cluster
      .worker()
      .exec('ctr', '--namespace', 'k8s.io', 'tasks', 'kill', '--signal', 'SIGKILL', id);
  }
  const areBack = async () => {
    const now = containersOf(await podsWith(cluster, selector));
    return now.every(({ ready, containerID = '' }) => ready && !killed.has(containerID));
  };
  await waitFor(`${name} is back`, areBack, RESTARTED);
}

function containersOf(items: PodList['items']): readonly ContainerStatus[] {
  return items.flatMap(({ status }) => status.containerStatuses ?? []);
}

/** A killed leader does not release the Lease, so the next leader waits for its expiry. */
async function killOperators(): Promise<void> {
  const leader = await leaseHolder();
  await killContainers(world.management, 'snicket-operator');
  await waitFor(
    'another replica leads',
    async () => ![leader, ''].includes(await leaseHolder()),
    RESTARTED,
  );
}

async function restartApiServer(tenant: Cluster): Promise<void> {
  await tenant.controlPlane.host.daemon('kube-apiserver').restart();
  const isReady = async () => tenant.kubectl('get', '--raw', '/readyz').catch(() => undefined);
  await waitFor('the API server is ready', isReady, RESTARTED);
}

/** Prints the holder of the operators' Lease, now and at every change. */
async function watchLease(): Promise<Daemon> {
  const { host, kubeconfig } = world.management.controlPlane;
  const lease = ['get', 'lease', 'snicket-operator', `--namespace=${SYSTEM_NAMESPACE}`, '--watch'];
  const output = '--output=jsonpath=holder={.spec.holderIdentity}{"\\n"}';
  const kubectl = [program('kubectl'), `--kubeconfig=${kubeconfig}`];
  return host.start('lease', [...kubectl, ...lease, output]);
}

async function leaseHolder(): Promise<string> {
  const lease = await world.management.get<{ spec: { holderIdentity?: string } }>(
    ...(['lease', 'snicket-operator', SYSTEM_NAMESPACE] as const),
  );
  return lease?.spec.holderIdentity ?? '';
}
