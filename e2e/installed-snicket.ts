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
  readonly observedGeneration?: number;
}

/** As much of an Exposure as tests look at. */
export interface Exposure {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly driver?: string;
    readonly mode?: string;
    readonly proxies?: { readonly summary: string };
  };
}

/** Installs operator and gateway, and gives the gateway its address. */
export async function installSnicket(world: World, progress: Progress): Promise<void> {
  await world.image(await snicketImage(progress));
  const { management } = world;
  progress.update('snicket', 'kubectl apply -k deploy');
  await applyServerSide(management, '-k', join(repository, 'deploy'));
  await playLoadBalancer(management);
  for (const name of ['snicket-operator', 'snicket-gateway']) await rolledOut(management, name);
  progress.done('snicket', 'installed');
}

/** Installs the operator alone, for edges of others. */
export async function installOperator(world: World, progress: Progress): Promise<void> {
  await world.image(await snicketImage(progress));
  const { management } = world;
  progress.update('snicket', 'kubectl apply -f deploy, without the gateway');
  const files = ['crds', 'namespace.yaml', 'operator.yaml'];
  const paths = files.flatMap((name) => ['-f', join(repository, 'deploy', name)]);
  await applyServerSide(management, ...paths);
  await rolledOut(management, 'snicket-operator');
  progress.done('snicket', 'installed');
}

/** CRDs have to be served before anything of their kind can be asked for. */
async function applyServerSide(management: Cluster, ...what: string[]): Promise<void> {
  await management.kubectl('apply', '--server-side', ...what);
  await management.definitionsEstablished();
}

async function rolledOut(management: Cluster, deployment: string): Promise<void> {
  await management.kubectl(
    ...['rollout', 'status', `--namespace=${SYSTEM}`, `deployment/${deployment}`],
    '--timeout=100s',
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

/** Lets the tenant's hosts lead to the edge, for its nodes too. */
export function leadToEdge(world: World, tenant: Cluster, address = EDGE_ADDRESS): void {
  const { api, konnectivity } = tenant.plan.hosts;
  for (const host of [api, konnectivity]) world.dns.set(host, address);
}

/** Lets the konnectivity agents dial anew: those that run have dialled before there was an edge. */
export async function dialEdge(tenant: Cluster): Promise<void> {
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
 * Waits until all conditions of a tenant's Exposure are True for its current spec, and its proxies are rolled out. If they
 * never are, the error has the conditions.
 */
export async function exposed(world: World, tenant: Cluster, deadlineMs = 150_000): Promise<void> {
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
    const isOfNow = ready?.observedGeneration === found?.metadata.generation;
    const areAllTrue = conditions.every(({ status }) => status === 'True');
    return ready !== undefined && areAllTrue && isOfNow && !isUpdating;
  };
  await waitFor(`Exposure ${name} is Ready and reachable`, isReady, {
    deadlineMs,
    everyMs: 250,
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${last}`);
  });
}
