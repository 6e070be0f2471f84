import type { DefaultAccessOptions } from '../../kube/access/default-access.ts';
import type { CommandIo } from './command-io.ts';

/** Where a run of a command finds a cluster, with the kubeconfig and the context that its flags name. */
export function accessOptions(
  io: CommandIo,
  kubeconfig: string | undefined,
  context: string | undefined,
): DefaultAccessOptions {
  return { kubeconfig, context, env: io.env, home: io.home, path: (name) => io.path(name) };
}
