/**
 * Connects a command to a tenant. The operator uses the Service, which a terminal often cannot reach. The address in the
 * tenant's kubeconfig and the edge are tried at the same time, and the first that answers is used. Each is verified by the
 * tenant's CA.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import { AccessError, withServer, type ClusterAccess } from '../../kube/access/cluster-access.ts';
import { TENANT_LIMITS } from '../../kube/client/client-limits.ts';
import { createClient } from '../../kube/client/fetch-client.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { parseKubeconfig } from '../../kube/access/kubeconfig.ts';
import type { Finding } from '../../api/finding.ts';
import { tenantAccess, type TenantAddress } from './link/tenant-links.ts';
import { sentence } from '../../text/sentence.ts';

/** The timeout of one request. */
const TIMEOUT_MS = 10_000;

/** The client of the address that answers first, or why there is none. */
export async function connectToTenant(
  address: Omit<TenantAddress, 'watchesNodes'>,
  signal: AbortSignal,
): Promise<KubeClient | Finding> {
  const { kubeconfig, addresses } = address;
  const found = new Map<string, ClusterAccess>();
  for (const target of addresses) {
    const access = tenantAccess(kubeconfig, target);
    if ('code' in access) return access;
    found.set(access.server, access);
  }
  for (const access of publicAddresses(address)) {
    if (!found.has(access.server)) found.set(access.server, access);
  }
  const clients = [...found.values()].map((access) =>
    createClient(access, { timeoutMs: TIMEOUT_MS, limits: TENANT_LIMITS }),
  );
  return firstToAnswer(clients, signal);
}

/** The address in the kubeconfig, and those of the edge. None for an invalid kubeconfig, which was reported already. */
function publicAddresses({
  kubeconfig,
  endpoint,
  edgeAddresses = [],
}: Omit<TenantAddress, 'watchesNodes'>): readonly ClusterAccess[] {
  let own: ClusterAccess;
  try {
    own = parseKubeconfig(kubeconfig);
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    return [];
  }
  if (endpoint === undefined) return [own];
  const { hostname: serverName, port } = new URL(`tcp://${endpoint}`);
  const hosts = [serverName, ...edgeAddresses.map((at) => (at.includes(':') ? `[${at}]` : at))];
  return [
    own,
    ...hosts.map((host) => withServer(own, { server: `https://${host}:${port}`, serverName })),
  ];
}

async function firstToAnswer(
  clients: readonly KubeClient[],
  signal: AbortSignal,
): Promise<KubeClient | Finding> {
  const answered = new AbortController();
  const boundedSignal = AbortSignal.any([signal, answered.signal]);
  try {
    return await Promise.any(
      clients.map(async (client) => {
        await client.version({ signal: boundedSignal });
        return client;
      }),
    );
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    return unreached(error.errors);
  } finally {
    answered.abort();
  }
}

function unreached(errors: readonly unknown[]): Finding {
  const said = errors.map((error) => {
    if (error instanceof KubeError) return error.message;
    throw error instanceof Error ? error : new TypeError(String(error));
  });
  return {
    code: 'TenantUnreachable',
    severity: 'error',
    message: sentence(`The tenant's API server does not answer: ${said.join('. ')}`),
    action:
      'Check that the control plane runs, or run this command where one of these addresses is reachable.',
  };
}
