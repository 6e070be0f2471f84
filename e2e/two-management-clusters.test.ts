/**
 * Two management clusters expose one tenant. The Lease in the tenant determines which of them owns it; the other waits.
 * Both operators are processes on hosts. The edges are two addresses of the tenant's API server.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import type { Daemon } from '../world/machine/daemon.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT } from '../world/spec.ts';
import { tenantNamespace, tenantService } from '../world/tenant-service.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';
import { RequestLoop } from './request-loop.ts';
import type { Exposure } from './installed-snicket.ts';
import { SNICKET_IMAGE, snicketImage } from './snicket-image.ts';
import {
  homeNamespace,
  createHomeNamespace,
  namespacesFirstSeenBy,
  namespacesSeenBy,
} from './namespaces.ts';

const SNICKET = [process.execPath, join(repository, 'src', 'main.ts')] as const;
const LEASE_SECONDS = 20;
/** Enough for a start of the operator, a whole Lease and a rollout on a busy machine. */
const WAIT = { deadlineMs: 150_000, everyMs: 250 } as const;

interface Lease {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly holderIdentity: string; readonly leaseTransitions: number };
}

interface DaemonSet {
  readonly metadata: { readonly uid: string; readonly generation: number };
}

/** A management cluster and its operator. */
interface Management {
  readonly cluster: Cluster;
  readonly operator: Daemon;
}

let world: World;
let tenant: Cluster;
let pod: Pod;
let first: Management;
let second: Management;

beforeAll(async () => {
  const progress = terminalProgress();
  const archive = await snicketImage(progress);
  world = await World.start(
    {
      management: { workers: 0 },
      // An operator outside the cluster needs only a control plane without nodes.
      tenants: { a: {}, second: { workers: 0, konnectivity: false } },
    },
    { progress },
  );
  await world.importImage(archive);
  tenant = world.tenant('a');
  await createHomeNamespace(tenant);
  pod = await tenant.runPod();
  first = await manage(world.management, '172.30.3.1');
});

afterAll(async () => world?.stop());

test('the first owns the tenant, and its pods reach their API server', async () => {
  await until(first, 'True');

  expect((await lease())?.spec.holderIdentity).toBe(await identityOf(first));
  expect(await namespacesFirstSeenBy(pod, 'kube-proxy uses the EndpointSlice')).toContain(
    homeNamespace(tenant),
  );
});

test('the second waits, reports the owner, and changes nothing', async () => {
  const before = await daemonSet();
  second = await manage(world.tenant('second'), '172.30.3.2');

  const message = await until(second, 'False TenantOwnedElsewhere');

  const [owner] = (await identityOf(first)).split('/');
  expect(message).toContain(
    `owned by Exposure ${tenantNamespace('a')}/a of management cluster ${owner}`,
  );
  expect((await daemonSet())?.metadata).toMatchObject({
    uid: before?.metadata.uid ?? '',
    generation: before?.metadata.generation ?? 0,
  });
  expect((await lease())?.spec).toMatchObject({
    holderIdentity: await identityOf(first),
    leaseTransitions: 0,
  });
});

test('the second takes over when the first is stopped, and no request of a pod fails', async () => {
  const requestLoop = await RequestLoop.run(tenant);

  await first.operator.kill();
  await until(second, 'True');
  await requestLoop.untilAnswered(10);

  expect(await requestLoop.stop()).toEqual([]);
  expect((await lease())?.spec).toMatchObject({
    holderIdentity: await identityOf(second),
    leaseTransitions: 1,
  });
});

test('the restarted first finds another owner and changes nothing', async () => {
  const before = await daemonSet();

  await first.operator.restart();

  await until(first, 'False TenantOwnedElsewhere');
  expect((await lease())?.spec.holderIdentity).toBe(await identityOf(second));
  expect((await daemonSet())?.metadata.generation).toBe(before?.metadata.generation ?? 0);
});

test('deleting the Exposure of the first does not change the tenant', async () => {
  const before = [await daemonSet(), await lease()].map((object) => object?.metadata.uid);

  await unexpose(first);

  const after = [await daemonSet(), await lease()].map((object) => object?.metadata.uid);
  expect(after).toEqual(before);
  expect(await namespacesSeenBy(pod)).toContain(homeNamespace(tenant));
});

test('deleting the Exposure of the owner removes Snicket from the tenant, the Lease last', async () => {
  await unexpose(second);

  expect(await daemonSet()).toBeUndefined();
  expect(await lease()).toBeUndefined();
});

/** Installs Snicket's CRDs in a cluster, exposes the tenant there, and starts an operator for it. */
async function manage(cluster: Cluster, edgeAddress: string): Promise<Management> {
  const { kubeconfig } = cluster.controlPlane;
  await cluster.kubectl('apply', '--server-side', '-f', join(repository, 'deploy', 'crds'));
  await cluster.untilCrdsEstablished();
  await tenant.controlPlane.host.exec([
    ...['ip', 'address', 'add', `${edgeAddress}/16`, 'dev', 'eth0'],
  ]);
  await cluster.apply(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'snicket-system' } },
    ...tenantService(tenant.controlPlane),
  );
  await cluster.apply(edgeAt(edgeAddress), exposure());
  const { host } = await world.addHost(`operator-${cluster.name}`);
  const operator = await host.start('operator', [
    ...[...SNICKET, 'operator', `--kubeconfig=${kubeconfig}`, '--http=off', '--probe-interval=5s'],
    ...[`--proxy-image=${SNICKET_IMAGE}`, `--tenant-lease-duration=${LEASE_SECONDS}s`],
  ]);
  return { cluster, operator };
}

function edgeAt(address: string): object {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name: 'shared' },
    spec: { driver: 'snicket', addresses: [address], port: API_PORT },
  };
}

function exposure(): object {
  const { name, plan, controlPlane } = tenant;
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: { name, namespace: tenantNamespace(name) },
    spec: {
      edgeRef: { name: 'shared' },
      controlPlane: {
        type: 'Endpoints',
        endpoints: { api: [`${controlPlane.plan.address}:${API_PORT}`] },
        caSecretRef: { name: `${name}-ca` },
        kubeconfigSecretRef: { name: `${name}-admin-kubeconfig` },
      },
      hosts: { api: plan.hosts.api },
      // There is no gateway in front of the API server, which does not support Passthrough.
      worker: { mode: 'Terminate' },
    },
  };
}

/** Waits until status and reason of the condition WorkersReady begin with this text; returns its message. */
async function until({ cluster, operator }: Management, start: string): Promise<string> {
  let last: string | undefined;
  const findMessage = async () => {
    const found = await cluster.get<Exposure>('exposure', 'a', tenantNamespace('a'));
    const { conditions = [] } = found?.status ?? {};
    last = JSON.stringify(conditions, undefined, 1);
    const condition = conditions.find(({ type }) => type === 'WorkersReady');
    const text = `${condition?.status} ${condition?.reason}`;
    return text.startsWith(start) ? condition?.message : undefined;
  };
  return waitFor(`WorkersReady of ${cluster.name} is ${start}`, findMessage, WAIT).catch(
    (error: unknown) => {
      throw new Error(`${String(error)}\n${last}\n${operator.tail()}`);
    },
  );
}

async function unexpose({ cluster }: Management): Promise<void> {
  await cluster.kubectl(
    ...['delete', 'exposure', 'a', `--namespace=${tenantNamespace('a')}`, '--timeout=120s'],
  );
}

/** Returns the holder identity in the Lease for the Exposure of a management cluster. */
async function identityOf({ cluster }: Management): Promise<string> {
  const system = await cluster.get<{ metadata: { uid: string } }>('namespace', 'kube-system');
  return `${system?.metadata.uid}/${tenantNamespace('a')}/a`;
}

async function lease(): Promise<Lease | undefined> {
  return tenant.get<Lease>('lease', 'snicket-owner', 'kube-system');
}

async function daemonSet(): Promise<DaemonSet | undefined> {
  return tenant.get<DaemonSet>('daemonset', 'snicket-proxy', 'kube-system');
}
