import type { DefaultAccessOptions } from '../../kube/access/default-access.ts';
import type { CommandIo } from './command-io.ts';

/** Options that locate the cluster of one command run. */
export function accessOptions(
  io: CommandIo,
  kubeconfig: string | undefined,
  context: string | undefined,
): DefaultAccessOptions {
  return { kubeconfig, context, env: io.env, home: io.home, path: (name) => io.path(name) };
}
