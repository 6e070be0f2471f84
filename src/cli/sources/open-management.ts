import { AccessError, type ClusterAccess } from '../../kube/access/cluster-access.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createClient } from '../../kube/client/fetch-client.ts';
import { openAccess, type AccessFlags } from '../io/open-access.ts';
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
  flags: AccessFlags,
  { hasFolderFlags = false } = {},
): OpenedManagement {
  try {
    const access = openAccess(io, flags);
    return { client: createClient(access), access };
  } catch (error) {
    const isMissing = error instanceof AccessError && error.code === 'AccessMissing';
    if (!isMissing || !hasFolderFlags || flags.kubeconfig !== undefined) throw error;
    const hint = 'for snicket run, pass its folder or its state: -f DIR or --state DIR';
    throw new AccessError(error.code, `${error.message}; ${hint}`, error);
  }
}
