/**
 * Whose API answers? Every cluster gets a namespace with its name, and whoever asks may list namespaces.
 */
import type { ClusterApi } from '../world/cluster/cluster-api.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { API_PORT } from '../world/spec.ts';
import { waitFor, type WaitOptions } from '../world/wait.ts';

/** Where a worker's proxy listens: an address that every node has for itself. */
export const VIRTUAL_ADDRESS = '100.64.64.1';

/** Lets every pod and host process list namespaces. */
const readersOfNamespaces = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'readers-of-namespaces' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  subjects: ['system:serviceaccounts', 'host-processes'].map((name) => ({
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'Group',
    name,
  })),
};

/** The namespace that this cluster alone has. */
export function homeOf(cluster: Cluster<ClusterApi>): string {
  return `home-of-${cluster.name}`;
}

/** Makes it, and lets everybody see it. */
export async function makeHome(cluster: Cluster<ClusterApi>): Promise<void> {
  const metadata = { name: homeOf(cluster) };
  await cluster.apply(readersOfNamespaces, { apiVersion: 'v1', kind: 'Namespace', metadata });
}

/** Seconds after which a question that is asked once counts as not answered: more than any answer takes. */
export const ASKED_ONCE_SECONDS = '60';
/** The same for one that is asked again. It may hang: what was led elsewhere before stays so until it is given up. */
const ASKED_AGAIN_SECONDS = '20';

/** What a pod sees with the credentials that every pod has, at the address that every pod is given. */
export async function namespacesSeenBy(
  pod: Pod,
  limitSeconds = ASKED_ONCE_SECONDS,
): Promise<string[]> {
  const kubectl = ['kubectl', 'get', 'namespaces', '-o', 'name'];
  return namesIn(await pod.exec('timeout', limitSeconds, ...kubectl));
}

/** What it sees as soon as it sees something, for whoever waits until the way is there; `state` says why it should be. */
export async function namespacesFirstSeenBy(
  pod: Pod,
  state: string,
  options: WaitOptions = { deadlineMs: 120_000 },
): Promise<string[]> {
  const look = async () => namespacesSeenBy(pod, ASKED_AGAIN_SECONDS).catch(() => undefined);
  return waitFor(state, look, options);
}

/** The same at `kubernetes.default.svc`, the name that every pod is given. */
export async function namespacesSeenByName(pod: Pod): Promise<string[]> {
  const server = '--server=https://kubernetes.default.svc';
  const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
  const credentials = `--certificate-authority=${folder}/ca.crt --token=$(cat ${folder}/token)`;
  const script = `kubectl ${server} ${credentials} get namespaces -o name`;
  return namesIn(await pod.exec('timeout', ASKED_ONCE_SECONDS, 'sh', '-c', script));
}

/** The names in what `kubectl get namespaces -o name` prints. */
export function namesIn(output: string): string[] {
  return output
    .split('\n')
    .filter(Boolean)
    .map((line) => line.replace('namespace/', ''));
}

/** The slice that leads `10.96.0.1` to this address on each node. */
export function kubernetesSlice(address: string): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': 'kubernetes' },
    },
    addressType: 'IPv4',
    ports: [{ name: 'https', port: API_PORT, protocol: 'TCP' }],
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
  };
}
