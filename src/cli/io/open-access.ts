import type { ClusterAccess } from '../../kube/access/cluster-access.ts';
import { defaultAccess } from '../../kube/access/default-access.ts';
import type { CommandIo } from './command-io.ts';

/** Flags that locate a cluster. */
export interface AccessFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** Returns the access to the cluster that the flags and the environment locate. @throws AccessError */
export function openAccess(io: CommandIo, { kubeconfig, context }: AccessFlags): ClusterAccess {
  const { env, home } = io;
  return defaultAccess({ kubeconfig, context, env, home, path: (name) => io.path(name) });
}
