/**
 * The assumptions of the design, without Snicket: how pods find their API server, and why the gateway cannot identify
 * the tenant of a pod by a shared address.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import type { Worker } from '../world/cluster/worker.ts';
import type { Daemon } from '../world/machine/daemon.ts';
import { repository } from '../world/repository.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { API_PORT } from '../world/spec.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';
import { readHello, type Hello } from './client-hello.ts';
import {
  REQUEST_TIMEOUT_SECONDS,
  kubernetesSlice,
  createHomeNamespace,
  namesIn,
  namespacesFirstSeenBy,
  namespacesSeenBy,
  VIRTUAL_ADDRESS,
} from './namespaces.ts';

const FORWARDER = join(repository, 'e2e', 'forward.ts');
const RECORDER = join(repository, 'e2e', 'hello-recorder.ts');

/** A request that every pod may send, with its own credentials and to its own API address. */
const REQUEST_API = [
  'timeout',
  REQUEST_TIMEOUT_SECONDS,
  'kubectl',
  'get',
  '--raw',
  '/api',
] as const;

let world: World;
const pods = new Map<string, { pod: Pod; hostPod: Pod }>();

beforeAll(async () => {
  // Both tenants use the same service and pod addresses, with different kube-proxy modes.
  const tenants = { a: { proxyMode: 'nftables' }, b: { proxyMode: 'iptables' } } as const;
  world = await World.start({ tenants }, { progress: terminalProgress() });
  await Promise.all(
    [world.management, ...world.tenants.values()].map(async (cluster) => {
      await createHomeNamespace(cluster);
      const [pod, hostPod] = await Promise.all([
        cluster.runPod(),
        cluster.runPod({ hostNetwork: true }),
      ]);
      pods.set(cluster.name, { pod, hostPod });
    }),
  );
});

afterAll(async () => world?.stop());

test('a pod reaches its API server at 10.96.0.1 if the API server writes its own endpoints', async () => {
  const { pod, hostPod } = podsOf(world.management);

  const namespaces = await namespacesFirstSeenBy(pod, 'kube-proxy has the endpoints');

  expect(namespaces).toContain('home-of-management');
  expect(await namespacesSeenBy(hostPod)).toContain('home-of-management');
});

test.each(['a', 'b'])(
  'a pod of the management cluster reaches tenant %s with the kubeconfig of its provider',
  async (name) => {
    const namespace = `tenant-${name}`;
    const secret = await world.management.get<{ data: Record<string, string> }>(
      'secret',
      `${name}-admin-kubeconfig`,
      namespace,
    );
    const kubeconfig = Buffer.from(secret?.data['admin.conf'] ?? '', 'base64').toString();
    const { pod } = podsOf(world.management);

    await pod.write('/tmp/kubeconfig', kubeconfig);
    const namespaces = namesIn(
      await pod.exec('kubectl', '--kubeconfig=/tmp/kubeconfig', 'get', 'namespaces', '-o', 'name'),
    );

    expect(kubeconfig).toContain(`server: https://${name}.tenant-${name}.svc:6443`);
    expect(namespaces).toContain(`home-of-${name}`);
  },
);

describe.each(['a', 'b'])('tenant %s, whose API server does not write endpoints', (name) => {
  const tenant = () => world.tenant(name);
  let forwarder: Daemon;

  test('has a Service kubernetes without endpoints', async () => {
    const service = await tenant().get<{ spec: { clusterIP: string } }>('service', 'kubernetes');

    expect(service?.spec.clusterIP).toBe('10.96.0.1');
    expect(await tenant().get('endpointslice', 'kubernetes')).toBeUndefined();
  });

  test('rejects its pods, host pods and host processes immediately', async () => {
    const { pod, hostPod } = podsOf(tenant());

    const refused = /10\.96\.0\.1(:443: connect: connection refused| was refused)/;
    await expect(namespacesSeenBy(pod)).rejects.toThrow(refused);
    await expect(namespacesSeenBy(hostPod)).rejects.toThrow(refused);
    await expect(namespacesSeenFrom(tenant())).rejects.toThrow(refused);
  });

  test('is reachable for all of them with an EndpointSlice and a listener at a virtual address', async () => {
    const worker = tenant().worker();
    await worker.exec(
      'ip',
      'address',
      'add',
      `${VIRTUAL_ADDRESS}/32`,
      'dev',
      'lo',
      'scope',
      'host',
    );
    forwarder = await forwardOn(worker, `${tenant().plan.address}:${API_PORT}`);
    await tenant().apply(kubernetesSlice(VIRTUAL_ADDRESS));
    const { pod, hostPod } = podsOf(tenant());

    const namespaces = await namespacesFirstSeenBy(pod, 'kube-proxy uses the EndpointSlice');

    expect(namespaces).toContain(`home-of-${name}`);
    expect(await namespacesSeenBy(hostPod)).toContain(`home-of-${name}`);
    expect(await namespacesSeenFrom(tenant())).toContain(`home-of-${name}`);
  });

  test('a pod sends no server name in its ClientHello unless it dials a name', async () => {
    const worker = tenant().worker();
    await forwarder.kill();
    const hellos = await recordOn(worker);
    const { pod } = podsOf(tenant());

    await expectFailure(pod.exec(...REQUEST_API));
    await expectFailure(
      pod.exec('env', 'KUBERNETES_SERVICE_HOST=kubernetes.default.svc', ...REQUEST_API),
    );

    const names = hellos().map((hello) => hello.names);
    expect(names).toContainEqual([]);
    expect(names).toContainEqual(['kubernetes.default.svc']);
    expect(new Set(names.map(String))).toEqual(new Set(['', 'kubernetes.default.svc']));
    await worker.daemon('recorder').kill();
  });
});

describe('two tenants behind one address', () => {
  let hellosAtEdge: () => Hello[];
  let edgeAddress: string;

  beforeAll(async () => {
    const edge = await world.addHost('edge');
    edgeAddress = edge.address;
    const folder = join(edge.host.folder, 'files', 'hellos');
    const recorder = await edge.host.start('recorder', [
      process.execPath,
      RECORDER,
      `${edge.address}:443`,
      folder,
    ]);
    await listening(recorder);
    hellosAtEdge = () => hellosIn(folder);
  });

  test('cannot be distinguished by the ClientHellos of their pods', async () => {
    const namespaces: Hello[] = [];
    for (const tenant of world.tenants.values()) {
      await forwardOn(tenant.worker(), `${edgeAddress}:443`);
      const before = hellosAtEdge().length;
      await expectFailure(podsOf(tenant).pod.exec(...REQUEST_API));
      namespaces.push(...hellosAtEdge().slice(before, before + 1));
    }

    expect(namespaces).toHaveLength(2);
    expect(namespaces.map((hello) => hello.names)).toEqual([[], []]);
    expect(namespaces[0]?.fingerprint).toBe(namespaces[1]?.fingerprint);
  });

  test('are distinguished by the server names that kubelet and kubectl send', async () => {
    const names: string[] = [];
    for (const tenant of world.tenants.values()) {
      world.dns.set(tenant.plan.hosts.api, edgeAddress);
      const before = hellosAtEdge().length;
      const server = `--server=https://${tenant.plan.hosts.api}`;
      const kubectl = ['kubectl', '--kubeconfig=/run/snicket/files/kubelet.kubeconfig', server];
      await expectFailure(
        tenant
          .worker()
          .exec('timeout', REQUEST_TIMEOUT_SECONDS, ...kubectl, 'get', '--raw', '/api'),
      );
      // Kubelets resolve the name too, so there may be more connections.
      names.push(
        ...new Set(
          hellosAtEdge()
            .slice(before)
            .flatMap((hello) => hello.names),
        ),
      );
      world.dns.set(tenant.plan.hosts.api, tenant.plan.address);
    }

    expect(names).toEqual(['a.k8s.snicket.test', 'b.k8s.snicket.test']);
  });
});

function podsOf(cluster: Cluster): { pod: Pod; hostPod: Pod } {
  const found = pods.get(cluster.name);
  if (!found) throw new Error(`no pods in ${cluster.name}`);
  return found;
}

/** Returns the namespaces that a process on the node lists, outside any pod, with its own certificate. */
async function namespacesSeenFrom(tenant: Cluster): Promise<string[]> {
  const worker = tenant.worker();
  const path = join(worker.host.folder, 'files', 'host-process.kubeconfig');
  const subject = { commonName: 'host-process', organization: 'host-processes' };
  await tenant.controlPlane.writeUser(path, subject, 'https://10.96.0.1');
  const kubectl = ['kubectl', '--kubeconfig=/run/snicket/files/host-process.kubeconfig'];
  return namesIn(
    await worker.exec(
      'timeout',
      REQUEST_TIMEOUT_SECONDS,
      ...kubectl,
      'get',
      'namespaces',
      '-o',
      'name',
    ),
  );
}

async function forwardOn(worker: Worker, target: string): Promise<Daemon> {
  const forwarder = await worker.start(
    'forwarder',
    process.execPath,
    FORWARDER,
    `${VIRTUAL_ADDRESS}:${API_PORT}`,
    target,
  );
  await listening(forwarder);
  return forwarder;
}

async function recordOn(worker: Worker): Promise<() => Hello[]> {
  await listening(
    await worker.start(
      'recorder',
      process.execPath,
      RECORDER,
      `${VIRTUAL_ADDRESS}:${API_PORT}`,
      '/run/snicket/files/hellos',
    ),
  );
  return () => hellosIn(join(worker.host.folder, 'files', 'hellos'));
}

async function listening(daemon: Daemon): Promise<void> {
  await waitFor(`${daemon.name} listens`, () => {
    if (!daemon.running) throw new Error(`${daemon.name} ended:\n${daemon.tail()}`);
    return daemon.tail().includes('listening');
  });
}

function hellosIn(folder: string): Hello[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.bin'));
  return files
    .toSorted((x, y) => parseInt(x, 10) - parseInt(y, 10))
    .map((name) => readHello(readFileSync(join(folder, name))));
}

/** Waits for the failure of a client whose connection the recorder closes. Only the sent bytes matter. */
async function expectFailure(client: Promise<string>): Promise<void> {
  const answered = await client.then(
    () => true,
    () => false,
  );
  if (answered) throw new Error('the recorder answered a client');
}
