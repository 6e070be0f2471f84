/** Snicket as a user installs it, with `kubectl apply -k deploy`. The test simulates the cloud's load balancer. */
import { join } from 'node:path';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Progress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT, KONNECTIVITY_PORT } from '../world/spec.ts';
import { tenantNamespace } from '../world/tenant-service.ts';
import { waitFor } from '../world/wait.ts';
import type { World } from '../world/world.ts';
import { snicketImage } from './snicket-image.ts';

/** Namespace of operator and gateway. */
export const SYSTEM_NAMESPACE = 'snicket-system';
/** Address that the simulated load balancer assigns to the gateway. */
export const EDGE_ADDRESS = '172.30.3.1';
/** The Edge's port, and the ports that the workers of a world dial. The gateway routes by SNI on all of them. */
const EDGE_PORTS = [443, API_PORT, KONNECTIVITY_PORT];

/** A condition of an Exposure. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

/** The fields of an Exposure that tests read. */
export interface Exposure {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly driver?: string;
    readonly mode?: string;
    readonly proxies?: { readonly summary: string };
  };
}

/** Installs operator and gateway, and assigns the gateway its address. */
export async function installSnicket(world: World, progress: Progress): Promise<void> {
  await world.importImage(await snicketImage(progress));
  const { management } = world;
  progress.update('snicket', 'kubectl apply -k deploy');
  await applyServerSide(management, '-k', join(repository, 'deploy'));
  await simulateLoadBalancer(management);
  for (const name of ['snicket-operator', 'snicket-gateway'])
    await untilRolledOut(management, name);
  progress.done('snicket', 'installed');
}

/** Installs the operator without the gateway, for other edges. */
export async function installOperator(world: World, progress: Progress): Promise<void> {
  await world.importImage(await snicketImage(progress));
  const { management } = world;
  progress.update('snicket', 'kubectl apply -f deploy, without the gateway');
  const files = ['crds', 'namespace.yaml', 'operator.yaml'];
  const paths = files.flatMap((name) => ['-f', join(repository, 'deploy', name)]);
  await applyServerSide(management, ...paths);
  await untilRolledOut(management, 'snicket-operator');
  progress.done('snicket', 'installed');
}

/** Applies manifests, and waits until CRDs are served before their kinds are used. */
async function applyServerSide(management: Cluster, ...files: string[]): Promise<void> {
  await management.kubectl('apply', '--server-side', ...files);
  await management.untilCrdsEstablished();
}

async function untilRolledOut(management: Cluster, deployment: string): Promise<void> {
  await management.kubectl(
    ...['rollout', 'status', `--namespace=${SYSTEM_NAMESPACE}`, `deployment/${deployment}`],
    '--timeout=100s',
  );
}

/** Adds the address to the node where the gateway runs. kube-proxy forwards it from there. */
export async function simulateLoadBalancer(management: Cluster): Promise<void> {
  const worker = management.worker();
  await worker.exec('ip', 'address', 'add', `${EDGE_ADDRESS}/16`, 'dev', 'eth0');
  const ports = EDGE_PORTS.map((port) => ({ name: `tls-${port}`, port, targetPort: 'tls' }));
  const service = ['service', 'snicket-gateway', `--namespace=${SYSTEM_NAMESPACE}`];
  await management.kubectl(
    ...['patch', ...service, '--type=merge', '--patch', JSON.stringify({ spec: { ports } })],
  );
  const status = { loadBalancer: { ingress: [{ ip: EDGE_ADDRESS }] } };
  await management.kubectl(
    ...['patch', ...service, '--subresource=status', '--type=merge'],
    ...['--patch', JSON.stringify({ status })],
  );
}

/** Returns the Edge of Snicket's gateway. Its address comes from the gateway's Service. */
export function snicketEdge(): object {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name: 'shared', annotations: { 'snicket.dev/is-default': 'true' } },
    spec: { driver: 'snicket' },
  };
}

/** Returns the Exposure of a tenant with a Service and Secrets like those of a provider. */
export function exposureOf(tenant: Cluster, worker: object = {}): object {
  const { name, plan } = tenant;
  const { api, konnectivity } = plan.hosts;
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: { name, namespace: tenantNamespace(name) },
    spec: {
      controlPlane: {
        type: 'Service',
        service: { name, apiPort: API_PORT, konnectivityPort: KONNECTIVITY_PORT },
        caSecretRef: { name: `${name}-ca` },
        kubeconfigSecretRef: { name: `${name}-admin-kubeconfig` },
      },
      hosts: { api, konnectivity },
      worker,
    },
  };
}

/** Points the tenant's hosts to the edge, for clients and nodes. */
export function pointToEdge(world: World, tenant: Cluster, address = EDGE_ADDRESS): void {
  const { api, konnectivity } = tenant.plan.hosts;
  for (const host of [api, konnectivity]) world.dns.set(host, address);
}

/** Restarts the konnectivity agents, because they dialed before there was an edge. */
export async function restartAgents(tenant: Cluster): Promise<void> {
  const agents = ['--namespace=kube-system', '--selector=k8s-app=konnectivity-agent'];
  await tenant.kubectl('delete', 'pods', ...agents);
  const command = ['get', '--raw', `/api/v1/nodes/${tenant.worker().name}/proxy/healthz`];
  await waitFor(
    'the API server reaches its nodes',
    async () => tenant.kubectl(...command).catch(() => undefined),
    { deadlineMs: 120_000 },
  );
}

/**
 * Waits until all conditions of a tenant's Exposure are True for its current spec, and its proxies are rolled out. On a
 * timeout, the error contains the conditions.
 */
export async function untilReachable(
  world: World,
  tenant: Cluster,
  deadlineMs = 150_000,
): Promise<void> {
  const { name } = tenant;
  let last: string | undefined;
  const isReady = async () => {
    const found = await world.management.get<Exposure & { metadata: { generation: number } }>(
      ...(['exposure', name, tenantNamespace(name)] as const),
    );
    const { conditions = [] } = found?.status ?? {};
    const ready = conditions.find(({ type }) => type === 'Ready');
    last = JSON.stringify(found?.status?.conditions ?? found, undefined, 1);
    const isUpdating = conditions.some(({ reason }) => reason === 'ProxiesUpdating');
    const isCurrent = ready?.observedGeneration === found?.metadata.generation;
    const areAllTrue = conditions.every(({ status }) => status === 'True');
    return ready !== undefined && areAllTrue && isCurrent && !isUpdating;
  };
  await waitFor(`Exposure ${name} is Ready and reachable`, isReady, {
    deadlineMs,
    everyMs: 250,
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${last}`);
  });
}
