/**
 * What a tenant's own API says of it.
 */
import { isKubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { TenantFacts, TenantNode } from '../../tenant/tenant-facts.ts';
import { KUBERNETES } from '../../tenant/endpoints/kubernetes-endpoints.ts';
import { familyOf } from '../../kube/endpoints/endpoint-address.ts';
import type { ProxyPod } from '../../probe/hops/proxies.ts';
import type { Node, TenantView } from './link/tenant-view.ts';

/** The Service `kubernetes` is made by the API server within seconds of its start; until then there is nothing to do. */
export class TenantNotInitialised extends Error {
  override readonly name = 'TenantNotInitialised';

  constructor(server: string, missing = 'Service default/kubernetes') {
    super(`the API server at ${server} has not created ${missing} yet`);
  }
}

/** Options of {@link readTenantFacts}. */
export interface TenantFactsOptions {
  /** As the Exposure says it. */
  readonly clusterDomain?: string | undefined;
  readonly signal: AbortSignal;
}

/** Asks the tenant. @throws KubeError, TenantNotInitialised */
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
  if (serviceAddresses.length === 0) throw new TenantNotInitialised(reader.server);
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

/** kubeadm, and those who use it, say it in a ConfigMap; all others have the domain that everybody has. */
async function readClusterDomain({ reader }: TenantView, signal: AbortSignal): Promise<string> {
  const key = { namespace: 'kube-system', name: 'kubeadm-config' };
  try {
    const config = await reader.get<ConfigMap>(RESOURCES.configMap, key, { signal });
    const document = config?.data?.['ClusterConfiguration'] ?? '';
    return /^\s*dnsDomain:\s*["']?([a-z0-9.-]+)["']?\s*$/m.exec(document)?.[1] ?? 'cluster.local';
  } catch (error) {
    // A kubeconfig with few rights is enough for everything else.
    if (isKubeError(error, 'Forbidden')) return 'cluster.local';
    throw error;
  }
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** The nodes, with our own judgement of ready: their proxy's readiness, whatever the node's condition is. */
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

/** A node that is not ready marks its pods as not ready; what its containers say is still true. */
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
