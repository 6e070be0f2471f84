/**
 * Snicket as a user installs it: `kubectl apply -k deploy`, in a world whose test plays the cloud's load balancer.
 */
import { join } from 'node:path';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Progress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT, KONNECTIVITY_PORT } from '../world/spec.ts';
import { tenantNamespace } from '../world/tenant-service.ts';
import { waitFor } from '../world/wait.ts';
import type { World } from '../world/world.ts';
import { snicketImage } from './snicket-image.ts';

/** Where operator and gateway run. */
export const SYSTEM = 'snicket-system';
/** The address that the load balancer gives to the gateway. */
export const EDGE_ADDRESS = '172.30.3.1';
/** The Edge's port, and those that the workers of a world dial by themselves: the name alone decides. */
const EDGE_PORTS = [443, API_PORT, KONNECTIVITY_PORT];

/** A condition of an Exposure. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** As much of an Exposure as tests look at. */
export interface Exposure {
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly mode?: string;
    readonly proxies?: { readonly summary: string };
  };
}

/** Installs operator and gateway, and gives the gateway its address. */
export async function installSnicket(world: World, progress: Progress): Promise<void> {
  await world.image(await snicketImage(progress));
  const { management } = world;
  progress.update('snicket', 'kubectl apply -k deploy');
  await applyFolder(management);
  await playLoadBalancer(management);
  for (const name of ['snicket-operator', 'snicket-gateway']) {
    await management.kubectl(
      ...['rollout', 'status', `--namespace=${SYSTEM}`, `deployment/${name}`, '--timeout=100s'],
    );
  }
  progress.done('snicket', 'installed');
}

/** CRDs have to be served before anything of their kind can be asked for. */
async function applyFolder(management: Cluster): Promise<void> {
  await management.kubectl('apply', '--server-side', '-k', join(repository, 'deploy'));
  await management.kubectl(
    ...['wait', '--for=condition=Established', '--timeout=30s'],
    ...['crd/edges.snicket.dev', 'crd/exposures.snicket.dev'],
  );
}

/** An address on the node where the gateway runs; kube-proxy takes it from there. */
async function playLoadBalancer(management: Cluster): Promise<void> {
  const worker = management.worker();
  await worker.exec('ip', 'address', 'add', `${EDGE_ADDRESS}/16`, 'dev', 'eth0');
  const ports = EDGE_PORTS.map((port) => ({ name: `tls-${port}`, port, targetPort: 'tls' }));
  const service = ['service', 'snicket-gateway', `--namespace=${SYSTEM}`];
  await management.kubectl(
    ...['patch', ...service, '--type=merge', '--patch', JSON.stringify({ spec: { ports } })],
  );
  const status = { loadBalancer: { ingress: [{ ip: EDGE_ADDRESS }] } };
  await management.kubectl(
    ...['patch', ...service, '--subresource=status', '--type=merge'],
    ...['--patch', JSON.stringify({ status })],
  );
}

/** The Edge of Snicket's own gateway; where it is, its Service says. */
export function snicketEdge(): object {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name: 'shared', annotations: { 'snicket.dev/is-default': 'true' } },
    spec: { driver: 'snicket' },
  };
}

/** The Exposure of a tenant, whose Service and Secrets are as its provider leaves them. */
export function exposureOf(tenant: Cluster, worker: object = {}): object {
  const { name, plan } = tenant;
  const { api, konnectivity } = plan.hosts;
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: { name, namespace: tenantNamespace(name) },
    spec: {
      controlPlane: {
        service: { name, apiPort: API_PORT, konnectivityPort: KONNECTIVITY_PORT },
        caSecret: { name: `${name}-ca` },
        kubeconfigSecret: { name: `${name}-admin-kubeconfig` },
      },
      hosts: { api, konnectivity },
      worker,
    },
  };
}

/** Lets the tenant's hosts lead to the edge, for its nodes too. */
export function leadToEdge(world: World, tenant: Cluster, address = EDGE_ADDRESS): void {
  const { api, konnectivity } = tenant.plan.hosts;
  for (const host of [api, konnectivity]) world.dns.set(host, address);
}

/** Waits until the Exposure of a tenant is Ready as it is wished for now; says what it waits for if it never is. */
export async function exposed(world: World, tenant: Cluster, deadlineMs = 90_000): Promise<void> {
  const { name } = tenant;
  let last: string | undefined;
  const isReady = async () => {
    const found = await world.management.get<Exposure & { metadata: { generation: number } }>(
      ...(['exposure', name, tenantNamespace(name)] as const),
    );
    const ready = found?.status?.conditions?.find(({ type }) => type === 'Ready') as
      | (Condition & { readonly observedGeneration?: number })
      | undefined;
    last = JSON.stringify(found?.status?.conditions ?? found, undefined, 1);
    return ready?.status === 'True' && ready.observedGeneration === found?.metadata.generation;
  };
  await waitFor(`Exposure ${name} is Ready`, isReady, { deadlineMs, everyMs: 250 }).catch(
    (error: unknown) => {
      throw new Error(`${String(error)}\n${last}`);
    },
  );
}
