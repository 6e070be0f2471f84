/**
 * Tests the proxy as a DaemonSet on a real node: pods reach their API server through it, no request fails during an
 * upgrade, and cleanup restores the node. The API server itself is the edge, because it presents the certificate that
 * clients see through any edge.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { leafNames } from '../src/plan/leaf-names.ts';
import { TENANT, tenantInput } from '../src/plan/testing/inputs.ts';
import { cleanupObjects, tenantObjects, type TenantInput } from '../src/tenant/tenant-objects.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { API_PORT } from '../world/spec.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';
import { RequestLoop } from './request-loop.ts';
import { SNICKET_IMAGE, snicketImage } from './snicket-image.ts';
import {
  homeNamespace,
  createHomeNamespace,
  namespacesFirstSeenBy,
  VIRTUAL_ADDRESS,
} from './namespaces.ts';

interface DaemonSet {
  readonly metadata: { readonly generation: number };
  readonly status: Readonly<Record<string, number>>;
}

let world: World;
let tenant: Cluster;
let pod: Pod;
let inputFor: (worker: Readonly<Record<string, unknown>>) => TenantInput;

beforeAll(async () => {
  const progress = terminalProgress();
  const archive = await snicketImage(progress);
  const management = { workers: 0 };
  world = await World.start({ tenants: { a: {} }, management }, { progress });
  await world.importImage(archive);
  tenant = world.tenant('a');
  await createHomeNamespace(tenant);
  pod = await tenant.runPod();
  inputFor = await inputOf(tenant);
});

afterAll(async () => world?.stop());

describe.each(['Virtual', 'Node'])('at address %s', (address) => {
  test('pods reach their API server through the proxy of their node', async () => {
    await rollOut({ address });

    const namespaces = await namespacesFirstSeenBy(pod, 'kube-proxy uses the EndpointSlice');

    expect(namespaces).toContain(homeNamespace(tenant));
  });

  test('no request fails during an update of the proxy', async () => {
    const before = await proxyPods();
    const requestLoop = await RequestLoop.run(tenant);

    await rollOut({ address, logLevel: 'debug' });

    const isGone = async () => {
      const names = await proxyPods();
      return names.length === 1 && names[0] !== before[0];
    };
    await waitFor('the previous pod is gone', isGone, { deadlineMs: 90_000 });
    await requestLoop.untilAnswered(10);

    expect(await requestLoop.stop()).toEqual([]);
  });
});

test('the addresses of the edge change without a restart of the proxy', async () => {
  await rollOut({ address: 'Virtual' });
  const isOnlyPod = async () => (await proxyPods()).length === 1;
  await waitFor('the previous pods are gone', isOnlyPod, { deadlineMs: 90_000, everyMs: 250 });
  const before = { pods: await proxyPods(), generation: await generation() };

  // TEST-NET-1 (RFC 5737): nothing answers there.
  await setEdgeAddresses(['192.0.2.1']);
  await waitFor('the proxy uses the unreachable address', async () => !(await isReady()), {
    deadlineMs: 180_000,
    everyMs: 500,
  });
  await setEdgeAddresses([tenant.controlPlane.plan.address]);
  await waitFor('the proxy uses the address of the edge', isReady, {
    deadlineMs: 180_000,
    everyMs: 500,
  });

  expect(await namespacesFirstSeenBy(pod, 'the proxy forwards to the edge')).toContain(
    homeNamespace(tenant),
  );
  expect({ pods: await proxyPods(), generation: await generation() }).toEqual(before);
  const restarts = '--output=jsonpath={.items[*].status.containerStatuses[*].restartCount}';
  expect(await proxies(restarts)).toBe('0');

  async function setEdgeAddresses(edgeAddresses: readonly string[]): Promise<void> {
    await tenant.apply(...tenantObjects({ ...inputFor({ address: 'Virtual' }), edgeAddresses }));
  }

  async function isReady(): Promise<boolean> {
    const set = await tenant.get<DaemonSet>('daemonset', 'snicket-proxy', 'kube-system');
    return set?.status['numberReady'] === 1;
  }

  async function generation(): Promise<number | undefined> {
    const set = await tenant.get<DaemonSet>('daemonset', 'snicket-proxy', 'kube-system');
    return set?.metadata.generation;
  }
});

test('the node has the virtual address only while the proxy is installed', async () => {
  await rollOut({ address: 'Virtual' });
  const during = await loopback();

  await tenant.apply(...cleanupObjects(inputFor({ address: 'Virtual' })));
  await settled();

  expect(during).toContain(`inet ${VIRTUAL_ADDRESS}/32 scope host`);
  expect(await loopback()).not.toContain(VIRTUAL_ADDRESS);
});

async function loopback(): Promise<string> {
  return tenant.worker().exec('ip', 'address', 'show', 'dev', 'lo');
}

async function inputOf(cluster: Cluster): Promise<typeof inputFor> {
  const { authority, plan } = cluster.controlPlane;
  const worker = cluster.worker();
  const facts = {
    ...TENANT,
    serviceAddresses: [plan.serviceAddress],
    nodes: [{ name: worker.name, addresses: [worker.address], ready: true }],
  };
  const { names, addresses } = leafNames(facts);
  const leaf = await authority.issue({
    commonName: 'kubernetes',
    names: [...names, ...addresses],
  });
  return (desired) =>
    tenantInput(desired, {
      image: SNICKET_IMAGE,
      host: plan.hosts.api,
      port: API_PORT,
      edgeAddresses: [plan.address],
      tenant: facts,
      authority: authority.certificate,
      credentials: leaf,
    });
}

async function rollOut(worker: Readonly<Record<string, unknown>>): Promise<void> {
  await tenant.apply(...tenantObjects(inputFor(worker)));
  await settled();
}

/** Waits until every node runs the newest pod and the pod is ready. */
async function settled(): Promise<void> {
  await waitFor(
    'the DaemonSet is rolled out',
    async () => {
      const set = await tenant.get<DaemonSet>('daemonset', 'snicket-proxy', 'kube-system');
      const { status, metadata } = set ?? { status: {}, metadata: { generation: -1 } };
      return (
        status['observedGeneration'] === metadata.generation &&
        status['updatedNumberScheduled'] === 1 &&
        status['numberAvailable'] === 1
      );
    },
    { deadlineMs: 90_000, everyMs: 250 },
  );
}

async function proxyPods(): Promise<string[]> {
  return (await proxies('--output=name')).split('\n').filter(Boolean);
}

async function proxies(output: string): Promise<string> {
  const flags = ['--namespace=kube-system', '--selector=app.kubernetes.io/name=snicket-proxy'];
  return tenant.kubectl('get', 'pods', ...flags, output);
}
