/**
 * The access that a kubeconfig describes. What Snicket does not do is refused in words, never passed over: an access
 * that quietly lacks its proxy or its impersonation is another access.
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
  /** Default: the current context of the text. */
  readonly context?: string | undefined;
  /**
   * Where the file is that the text was read from: file names in it start from there. Without it the text is taken for
   * one that somebody else wrote, as into a Secret, and what would reach into this machine is refused: files, programs.
   */
  readonly folder?: string | undefined;
}

/** The access that a text describes. Files that it names are read here and now, but for a tokenFile. @throws AccessError */
export function parseKubeconfig(text: string, options: KubeconfigOptions = {}): ClusterAccess {
  const { context, folder } = options;
  return accessIn(readKubeconfig(text, { name: 'the kubeconfig', folder }), context);
}

/** The access of one context. @throws AccessError */
export function accessIn(kubeconfig: Kubeconfig, contextName?: string): ClusterAccess {
  const wanted = contextName ?? kubeconfig.currentContext;
  const contexts = [...kubeconfig.contexts.keys()].toSorted().join(', ') || 'none';
  if (wanted === undefined) {
    throw new AccessError(
      'AccessInvalid',
      `${kubeconfig.name} has no current-context; name one of its contexts: ${contexts}`,
    );
  }
  const context = kubeconfig.contexts.get(wanted);
  if (context === undefined) {
    throw new AccessError(
      'AccessInvalid',
      `${kubeconfig.name} has no context "${wanted}"; it has: ${contexts}`,
    );
  }
  const cluster = kubeconfig.clusters.get(context.value.cluster);
  if (cluster === undefined) {
    throw new AccessError(
      'AccessInvalid',
      `context "${wanted}" in ${context.origin.name} names cluster "${context.value.cluster}", which is not there`,
    );
  }
  refuseUnsupported(cluster);
  const { value, origin } = cluster;
  const caName = `certificate-authority of cluster "${cluster.name}" in ${origin.name}`;
  const ca = contentOf({
    what: caName,
    base64: value['certificate-authority-data'],
    path: value['certificate-authority'],
    origin,
  });
  return {
    server: serverOf(cluster),
    serverName: value['tls-server-name'] || undefined,
    ca: ca === undefined ? undefined : certificatesIn(ca, caName),
    credentials: credentialsIn(kubeconfig, context.value.user, wanted, value),
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
    `context "${contextName}" in ${kubeconfig.name} names user "${userName}", which is not there`,
  );
}

function refuseUnsupported({ name, origin, value }: Entry<KubeconfigCluster>): void {
  if (value['insecure-skip-tls-verify'] === true) {
    throw new AccessError(
      'AccessRefused',
      `cluster "${name}" in ${origin.name} has insecure-skip-tls-verify: Snicket sends no credentials to a server it cannot tell from another; give certificate-authority-data, and tls-server-name if the certificate has another name`,
    );
  }
  if (value['proxy-url'] !== undefined && value['proxy-url'] !== '') {
    throw new AccessError(
      'AccessRefused',
      `cluster "${name}" in ${origin.name} has a proxy-url, which Snicket does not dial through; run it where ${value.server ?? 'the server'} can be reached`,
    );
  }
}

/** HTTPS; plain HTTP on this machine alone, as `kubectl proxy` serves it: elsewhere anybody could read the token. */
function serverOf({ name, origin, value }: Entry<KubeconfigCluster>): string {
  const { server = '' } = value;
  const url = URL.parse(server);
  const isLocal = url !== null && /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(hostOf(server));
  const isUsable = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
  if (isUsable && url?.username === '' && url.password === '') return withoutSlash(server);
  // Not quoted if it may hold a password.
  const shown = url?.password === '' || url === null ? `"${server}"` : 'an address with a password';
  throw new AccessError(
    'AccessInvalid',
    `server of cluster "${name}" in ${origin.name} is ${shown}; it has to be like https://10.0.0.1:6443`,
  );
}
