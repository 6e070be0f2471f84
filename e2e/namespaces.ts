/**
 * Identifies the API server that answers. Every cluster gets a namespace with its name, and every client may list
 * namespaces.
 */
import type { ClusterApi } from '../world/cluster/cluster-api.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { API_PORT } from '../world/spec.ts';
import { waitFor, type WaitOptions } from '../world/wait.ts';

/** Address of the proxy on every node. */
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

/** Returns the name of the namespace that only this cluster has. */
export function homeNamespace(cluster: Cluster<ClusterApi>): string {
  return `home-of-${cluster.name}`;
}

/** Creates the namespace, and the permission to list namespaces. */
export async function createHomeNamespace(cluster: Cluster<ClusterApi>): Promise<void> {
  const metadata = { name: homeNamespace(cluster) };
  await cluster.apply(readersOfNamespaces, { apiVersion: 'v1', kind: 'Namespace', metadata });
}

/** Timeout in seconds for a request that is sent once. */
export const REQUEST_TIMEOUT_SECONDS = '60';
/**
 * Timeout in seconds for a request that is retried. It may hang, because an existing connection keeps its previous
 * destination until it times out.
 */
const RETRIED_TIMEOUT_SECONDS = '20';

/** Returns the namespaces that a pod lists with its default credentials, at its default API address. */
export async function namespacesSeenBy(
  pod: Pod,
  limitSeconds = REQUEST_TIMEOUT_SECONDS,
): Promise<string[]> {
  const kubectl = ['kubectl', 'get', 'namespaces', '-o', 'name'];
  return namesIn(await pod.exec('timeout', limitSeconds, ...kubectl));
}

/** Returns the namespaces that a pod lists as soon as a request succeeds. `state` describes what the test waits for. */
export async function namespacesFirstSeenBy(
  pod: Pod,
  state: string,
  options: WaitOptions = { deadlineMs: 120_000 },
): Promise<string[]> {
  const list = async () => namespacesSeenBy(pod, RETRIED_TIMEOUT_SECONDS).catch(() => undefined);
  return waitFor(state, list, options);
}

/** Returns the namespaces that a pod lists at `kubernetes.default.svc`, the default name of the API server. */
export async function namespacesSeenByName(pod: Pod): Promise<string[]> {
  const server = '--server=https://kubernetes.default.svc';
  const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
  const credentials = `--certificate-authority=${folder}/ca.crt --token=$(cat ${folder}/token)`;
  const script = `kubectl ${server} ${credentials} get namespaces -o name`;
  return namesIn(await pod.exec('timeout', REQUEST_TIMEOUT_SECONDS, 'sh', '-c', script));
}

/** Parses the names in the output of `kubectl get namespaces -o name`. */
export function namesIn(output: string): string[] {
  return output
    .split('\n')
    .filter(Boolean)
    .map((line) => line.replace('namespace/', ''));
}

/** Returns the EndpointSlice that forwards `10.96.0.1` to this address on each node. */
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
