/**
 * A person's way to a tenant. The operator goes by the Service; from a terminal that often leads nowhere, while the
 * address in the tenant's kubeconfig does. Both are tried at once, and the first that answers is taken: whichever it is,
 * its certificate has to be one of the tenant's.
 */
import type { KubeClient } from '../../kube/client.ts';
import { type ClusterAccess, AccessError } from '../../kube/cluster-access.ts';
import { createClient } from '../../kube/fetch-client.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { parseKubeconfig } from '../../kube/kubeconfig.ts';
import type { Finding } from '../../plan/finding.ts';
import type { ControlPlaneReading } from '../../providers/read-control-plane.ts';
import { tenantAccess } from './tenant-links.ts';

/** A client that has been answered, or why there is none. */
export async function reachTenant(
  { kubeconfig, addresses }: ControlPlaneReading,
  signal: AbortSignal,
): Promise<KubeClient | Finding> {
  if (kubeconfig === undefined) {
    return {
      ...{ code: 'KubeconfigMissing', severity: 'error' },
      message: 'there is no kubeconfig of the tenant yet, so nothing is known of its side',
      action: 'wait for its provider, or write spec.controlPlane.kubeconfigSecret',
    };
  }
  const accesses: ClusterAccess[] = [];
  for (const target of addresses) {
    const access = tenantAccess(kubeconfig, target);
    if ('code' in access) return access;
    accesses.push(access);
  }
  const own = ownAccess(kubeconfig);
  if (own !== undefined && !accesses.some(({ server }) => server === own.server)) {
    accesses.push(own);
  }
  return firstToAnswer(
    accesses.map((access) => createClient(access)),
    signal,
  );
}

/** As the kubeconfig itself says it. One that cannot be read has been complained of already. */
function ownAccess(kubeconfig: string): ClusterAccess | undefined {
  try {
    return parseKubeconfig(kubeconfig);
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    return undefined;
  }
}

async function firstToAnswer(
  clients: readonly KubeClient[],
  signal: AbortSignal,
): Promise<KubeClient | Finding> {
  const answered = new AbortController();
  const inTime = AbortSignal.any([signal, answered.signal]);
  try {
    return await Promise.any(
      clients.map(async (client) => {
        await client.version({ signal: inTime });
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
    ...{ code: 'TenantUnreachable', severity: 'error' },
    message: `the tenant's API server does not answer: ${said.join('. ')}`,
    action:
      'see that the control plane runs, or look from where its Service or its kubeconfig leads to it',
  };
}
