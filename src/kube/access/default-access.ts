/**
 * Which cluster is meant when nobody says: what kubectl would take.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { AccessError, type ClusterAccess } from './cluster-access.ts';
import { inClusterAccess, isInCluster, type Environment } from './in-cluster.ts';
import { mergeKubeconfigs, readKubeconfig, type Kubeconfig } from './kubeconfig-document.ts';
import { accessIn } from './kubeconfig.ts';

/** Options of {@link defaultAccess}. */
export interface DefaultAccessOptions {
  /** A file; nothing else is looked at then. */
  readonly kubeconfig?: string | undefined;
  /** Default: the current context. */
  readonly context?: string | undefined;
  /** Default: that of the process. */
  readonly env?: Environment;
  /** Default: that of the user. */
  readonly home?: string;
  /** Where a file is that a flag or $KUBECONFIG names. Default: as the process finds it. */
  readonly path?: (name: string) => string;
}

/**
 * In this order: the file that is named, the files of $KUBECONFIG merged, ~/.kube/config, the pod that this runs in.
 *
 * @throws AccessError
 */
export function defaultAccess(options: DefaultAccessOptions = {}): ClusterAccess {
  const { kubeconfig, context, env = process.env, home = homedir() } = options;
  const present = reading(options.path);
  if (kubeconfig !== undefined) {
    const named = present(kubeconfig);
    if (named !== undefined) return accessIn(named, context);
    throw new AccessError('AccessMissing', `there is no kubeconfig ${kubeconfig}`);
  }
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) {
    // kubectl passes over those that are not there; only if none is, what was meant cannot be known.
    const found = listed.map(present).filter((one) => one !== undefined);
    if (found.length > 0) return accessIn(mergeKubeconfigs(found), context);
    throw new AccessError(
      'AccessMissing',
      `$KUBECONFIG is ${listed.join(delimiter)}, and no such file is there; unset it or write one`,
    );
  }
  const atHome = join(home, '.kube', 'config');
  const own = present(atHome);
  if (own !== undefined) return accessIn(own, context);
  if (isInCluster(env)) return inClusterAccess(env);
  throw new AccessError(
    'AccessMissing',
    `no cluster to talk to: there is no ${atHome}, $KUBECONFIG is not set, and this is no pod; name a kubeconfig`,
  );
}

/** Reads a file by its name. Undefined if it is not there; one that is there and cannot be read is an error. */
function reading(
  path: (name: string) => string = (name) => name,
): (name: string) => Kubeconfig | undefined {
  return (name) => {
    // Not resolved before it is read: with a symlink before `..`, the kernel finds another file.
    const place = path(name);
    let text: string;
    try {
      text = readFileSync(place, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw new AccessError('AccessMissing', `the kubeconfig ${name} cannot be read`, error);
    }
    return readKubeconfig(text, { name, folder: dirname(resolve(place)) });
  };
}
