/**
 * The access that a kubeconfig describes. Unsupported settings are rejected with an error and never ignored: without
 * its proxy or its impersonation, the access would be a different one.
 */
import { AccessError, hostOf, withoutSlash, type ClusterAccess } from './cluster-access.ts';
import { contentOf } from './kubeconfig-content.ts';
import {
  readKubeconfig,
  type Entry,
  type Kubeconfig,
  type KubeconfigCluster,
} from './kubeconfig-document.ts';
import { certificatesIn } from './kubeconfig-pem.ts';
import { credentialsOf } from './kubeconfig-user.ts';

/** Options of {@link parseKubeconfig}. */
export interface KubeconfigOptions {
  /** Default: the current context of the kubeconfig. */
  readonly context?: string | undefined;
  /**
   * The folder of the kubeconfig file, against which file names are resolved. If absent, the kubeconfig is treated as
   * untrusted, as from a Secret, and files and exec plugins of this machine are rejected.
   */
  readonly folder?: string | undefined;
}

/**
 * Parses the access from a kubeconfig. Files that it names are read now, except for a tokenFile. @throws AccessError
 */
export function parseKubeconfig(text: string, options: KubeconfigOptions = {}): ClusterAccess {
  const { context, folder } = options;
  return accessIn(readKubeconfig(text, { name: 'the kubeconfig', folder }), context);
}

/** Returns the access of a context. @throws AccessError */
export function accessIn(kubeconfig: Kubeconfig, contextName?: string): ClusterAccess {
  const selected = contextName ?? kubeconfig.currentContext;
  const contexts = [...kubeconfig.contexts.keys()].toSorted().join(', ') || 'none';
  if (selected === undefined) {
    throw new AccessError(
      'AccessInvalid',
      `${kubeconfig.name} has no current-context; select one of its contexts: ${contexts}`,
    );
  }
  const context = kubeconfig.contexts.get(selected);
  if (context === undefined) {
    throw new AccessError(
      'AccessInvalid',
      `${kubeconfig.name} has no context "${selected}"; available contexts: ${contexts}`,
    );
  }
  const cluster = kubeconfig.clusters.get(context.value.cluster);
  if (cluster === undefined) {
    throw new AccessError(
      'AccessInvalid',
      `context "${selected}" in ${context.origin.name} references cluster "${context.value.cluster}", which does not exist`,
    );
  }
  rejectUnsupported(cluster);
  const { value, origin } = cluster;
  const caName = `certificate-authority of cluster "${cluster.name}" in ${origin.name}`;
  const ca = contentOf({
    name: caName,
    base64: value['certificate-authority-data'],
    path: value['certificate-authority'],
    origin,
  });
  return {
    server: serverOf(cluster),
    serverName: value['tls-server-name'] || undefined,
    ca: ca === undefined ? undefined : certificatesIn(ca, caName),
    credentials: credentialsIn(kubeconfig, context.value.user, selected, value),
    namespace: context.value.namespace || 'default',
  };
}

function credentialsIn(
  kubeconfig: Kubeconfig,
  userName: string | undefined,
  contextName: string,
  cluster: KubeconfigCluster,
): ClusterAccess['credentials'] {
  if (userName === undefined || userName === '') return { kind: 'none' };
  const user = kubeconfig.users.get(userName);
  if (user !== undefined) return credentialsOf(user, cluster);
  throw new AccessError(
    'AccessInvalid',
    `context "${contextName}" in ${kubeconfig.name} references user "${userName}", which does not exist`,
  );
}

function rejectUnsupported({ name, origin, value }: Entry<KubeconfigCluster>): void {
  if (value['insecure-skip-tls-verify'] === true) {
    throw new AccessError(
      'AccessRefused',
      `cluster "${name}" in ${origin.name} has insecure-skip-tls-verify, but Snicket sends credentials only to verified servers; set certificate-authority-data, and tls-server-name if the certificate has another name`,
    );
  }
  if (value['proxy-url'] !== undefined && value['proxy-url'] !== '') {
    throw new AccessError(
      'AccessRefused',
      `cluster "${name}" in ${origin.name} has a proxy-url, which is not supported; run Snicket where ${value.server ?? 'the server'} is directly reachable`,
    );
  }
}

/**
 * Returns the server URL. It must be HTTPS, because HTTP would expose the token. HTTP is allowed only on loopback, as
 * `kubectl proxy` serves it.
 */
function serverOf({ name, origin, value }: Entry<KubeconfigCluster>): string {
  const { server = '' } = value;
  const url = URL.parse(server);
  const isLocal = url !== null && /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(hostOf(server));
  const isUsable = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
  if (isUsable && url?.username === '' && url.password === '') return withoutSlash(server);
  // Not quoted if it may contain a password.
  const shown = url?.password === '' || url === null ? `"${server}"` : 'an address with a password';
  throw new AccessError(
    'AccessInvalid',
    `server of cluster "${name}" in ${origin.name} is ${shown}; expected a URL such as https://10.0.0.1:6443`,
  );
}
