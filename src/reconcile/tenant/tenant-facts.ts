/**
 * Reads the facts about a tenant from its API.
 */
import { isKubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { TenantFacts, TenantNode } from '../../tenant/tenant-facts.ts';
import { KUBERNETES } from '../../tenant/endpoints/kubernetes-endpoints.ts';
import { familyOf } from '../../kube/endpoints/endpoint-address.ts';
import type { ProxyPod } from '../../probe/hops/proxies.ts';
import type { Node, TenantView } from './link/tenant-view.ts';

/** The API server creates the Service `kubernetes` within seconds of its start. Until then nothing can be planned. */
export class TenantNotInitialized extends Error {
  override readonly name = 'TenantNotInitialized';

  constructor(server: string, missing = 'Service default/kubernetes') {
    super(`The API server at ${server} has not created ${missing} yet.`);
  }
}

interface TenantFactsOptions {
  /** The cluster domain in the Exposure. */
  readonly clusterDomain?: string | undefined;
  readonly signal: AbortSignal;
}

/** Reads the facts. @throws KubeError, TenantNotInitialized */
export async function readTenantFacts(
  view: TenantView,
  { clusterDomain, signal }: TenantFactsOptions,
): Promise<TenantFacts> {
  const { reader } = view;
  // One after the other, on one connection.
  const { gitVersion } = await reader.version({ signal });
  const service = await reader.get<Service>(RESOURCES.service, KUBERNETES, { signal });
  const domain = clusterDomain ?? (await readClusterDomain(view, signal));
  const serviceAddresses = service?.spec?.clusterIPs ?? [];
  if (serviceAddresses.length === 0) throw new TenantNotInitialized(reader.server);
  await view.synced(signal);
  return {
    version: gitVersion,
    serviceAddresses,
    clusterDomain: domain,
    nodes: tenantNodes(view.nodes?.list() ?? [], view.pods?.list() ?? []),
  };
}

interface Service extends KubeObject {
  readonly spec?: { readonly clusterIPs?: readonly string[] };
}

/** The cluster domain in kubeadm's ConfigMap; without one, the default domain. */
async function readClusterDomain({ reader }: TenantView, signal: AbortSignal): Promise<string> {
  const key = { namespace: 'kube-system', name: 'kubeadm-config' };
  try {
    const config = await reader.get<ConfigMap>(RESOURCES.configMap, key, { signal });
    const document = config?.data?.['ClusterConfiguration'] ?? '';
    return /^\s*dnsDomain:\s*["']?([a-z0-9.-]+)["']?\s*$/m.exec(document)?.[1] ?? 'cluster.local';
  } catch (error) {
    // A kubeconfig with few permissions is enough for everything else.
    if (isKubeError(error, 'Forbidden')) return 'cluster.local';
    throw error;
  }
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** The nodes. A node counts as ready if its proxy is ready, whatever the condition of the node is. */
export function tenantNodes(
  nodes: readonly Node[],
  pods: readonly ProxyPod[],
): readonly TenantNode[] {
  const serving = new Set(pods.filter(isServing).map(({ spec }) => spec?.nodeName));
  return nodes
    .map(({ metadata, status }) => ({
      name: metadata.name,
      addresses: onePerFamily((status?.addresses ?? []).map(({ address }) => address)),
      ready: serving.has(metadata.name),
    }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

/** Whether the containers of a proxy are ready. The pod condition is also False if the node is not ready. */
function isServing({ metadata, status }: ProxyPod): boolean {
  const containers = status?.containerStatuses ?? [];
  return (
    metadata.deletionTimestamp === undefined &&
    containers.length > 0 &&
    containers.every(({ ready }) => ready === true)
  );
}

function onePerFamily(addresses: readonly string[]): readonly string[] {
  const byFamily = new Map<string, string>();
  for (const address of addresses) {
    const family = familyOf(address);
    if (family !== undefined && !byFamily.has(family)) byFamily.set(family, address);
  }
  return [...byFamily.values()];
}
