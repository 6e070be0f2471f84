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
 * Returns a client for the management cluster. Without any kubeconfig, the error of a command with `hasFolderFlags`
 * names -f and --state.
 *
 * @throws AccessError
 */
export function openManagement(
  io: CommandIo,
  { kubeconfig, context }: Pick<ClusterFlags, 'kubeconfig' | 'context'>,
  { hasFolderFlags = false } = {},
): OpenedManagement {
  try {
    const access = defaultAccess(accessOptions(io, kubeconfig, context));
    return { client: createClient(access), access };
  } catch (error) {
    const isMissing = error instanceof AccessError && error.code === 'AccessMissing';
    if (!isMissing || !hasFolderFlags || kubeconfig !== undefined) throw error;
    const hint = 'for snicket run, pass its folder or its state: -f DIR or --state DIR';
    throw new AccessError(error.code, `${error.message}; ${hint}`, error);
  }
}
