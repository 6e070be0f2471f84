/**
 * Chooses the default cluster in the same order as kubectl.
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
  /** A file. If set, no other source is used. */
  readonly kubeconfig?: string | undefined;
  /** Default: the current context. */
  readonly context?: string | undefined;
  /** Default: the environment of the process. */
  readonly env?: Environment;
  /** Default: the home directory of the user. */
  readonly home?: string;
  /** Maps a file name from a flag or $KUBECONFIG to its path. Default: unchanged. */
  readonly path?: (name: string) => string;
}

/**
 * Returns the first of: the given file, the files of $KUBECONFIG merged, ~/.kube/config, the service account of the pod
 * that this process runs in.
 *
 * @throws AccessError
 */
export function defaultAccess(options: DefaultAccessOptions = {}): ClusterAccess {
  const { kubeconfig, context, env = process.env, home = homedir() } = options;
  const readIfExists = kubeconfigReader(options.path);
  if (kubeconfig !== undefined) {
    const selected = readIfExists(kubeconfig);
    if (selected !== undefined) return accessIn(selected, context);
    throw new AccessError('AccessMissing', `kubeconfig not found: ${kubeconfig}`);
  }
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) {
    // kubectl skips files that do not exist. It is an error only if none of them exists.
    const found = listed.map(readIfExists).filter((text) => text !== undefined);
    if (found.length > 0) return accessIn(mergeKubeconfigs(found), context);
    throw new AccessError(
      'AccessMissing',
      `kubeconfig not found: ${listed.join(delimiter)} (from $KUBECONFIG); pass --kubeconfig FILE or unset KUBECONFIG`,
    );
  }
  const defaultPath = join(home, '.kube', 'config');
  const homeText = readIfExists(defaultPath);
  if (homeText !== undefined) return accessIn(homeText, context);
  if (isInCluster(env)) return inClusterAccess(env);
  throw new AccessError(
    'AccessMissing',
    `no cluster configured: ${defaultPath} does not exist, $KUBECONFIG is not set, and this is not a pod; pass --kubeconfig FILE`,
  );
}

/**
 * Returns a function that reads a kubeconfig by name. It returns undefined if the file does not exist, and throws if
 * the file cannot be read.
 */
function kubeconfigReader(
  path: (name: string) => string = (name) => name,
): (name: string) => Kubeconfig | undefined {
  return (name) => {
    // Read unresolved: if a symlink comes before `..`, the kernel finds a different file.
    const resolved = path(name);
    let text: string;
    try {
      text = readFileSync(resolved, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw new AccessError('AccessMissing', `kubeconfig cannot be read: ${name}`, error);
    }
    return readKubeconfig(text, { name, folder: dirname(resolve(resolved)) });
  };
}
