import { AccessError, type ClusterAccess } from '../../kube/access/cluster-access.ts';
import { defaultAccess } from '../../kube/access/default-access.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createClient } from '../../kube/client/fetch-client.ts';
import type { ClusterFlags } from '../flags/management-flags.ts';
import { accessOptions } from '../io/access-options.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Access to the management cluster, and a client for it. */
export interface OpenedManagement {
  readonly client: KubeClient;
  readonly access: ClusterAccess;
}

/**
 * Returns a client for the management cluster. `instead` names the flags that select `snicket run`, for the error
 * without any kubeconfig.
 *
 * @throws AccessError
 */
export function openManagement(
  io: CommandIo,
  { kubeconfig, context }: Pick<ClusterFlags, 'kubeconfig' | 'context'>,
  instead?: string,
): OpenedManagement {
  try {
    const access = defaultAccess(accessOptions(io, kubeconfig, context));
    return { client: createClient(access), access };
  } catch (error) {
    const isMissing = error instanceof AccessError && error.code === 'AccessMissing';
    if (!isMissing || instead === undefined || kubeconfig !== undefined) throw error;
    throw new AccessError(error.code, `${error.message}; for snicket run, pass ${instead}`, error);
  }
}
