/**
 * The credentials of a kubeconfig user.
 */
import { isAbsolute } from 'node:path';
import { isSendable, UNSENDABLE } from './bearer-token.ts';
import { AccessError, type Credentials, type ExecPlugin } from './cluster-access.ts';
import { contentOf, resolvedPath } from './kubeconfig-content.ts';
import type { Entry, KubeconfigCluster, KubeconfigUser } from './kubeconfig-document.ts';
import { requirePair } from './kubeconfig-pem.ts';

/** The `exec` section of a kubeconfig user. */
type ExecConfig = NonNullable<KubeconfigUser['exec']>;

const EXEC_VERSIONS = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
] as const;

/** The cluster extension with the plugin's configuration. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

/**
 * Returns the credentials of a user. The order of precedence is certificate, token file, token, exec. kubectl sends the
 * certificate and the token together, and the server then uses the certificate.
 *
 * @throws AccessError
 */
export function credentialsOf(
  user: Entry<KubeconfigUser>,
  cluster: KubeconfigCluster,
): Credentials {
  rejectUnsupported(user);
  const { value, origin } = user;
  const where = `user "${user.name}" in ${origin.name}`;
  const cert = contentOf({
    name: `client-certificate of ${where}`,
    base64: value['client-certificate-data'],
    path: value['client-certificate'],
    origin,
  });
  const key = contentOf({
    name: `client-key of ${where}`,
    base64: value['client-key-data'],
    path: value['client-key'],
    origin,
  });
  if (cert !== undefined || key !== undefined) {
    if (cert === undefined || key === undefined) {
      const missing = cert === undefined ? 'client-certificate' : 'client-key';
      throw new AccessError(
        'AccessInvalid',
        `${where} has no ${missing}; a client certificate and its key are both required`,
      );
    }
    requirePair(cert, key, where);
    return { kind: 'certificate', cert, key };
  }
  if (isSet(value.tokenFile)) {
    const path = resolvedPath(value.tokenFile, `tokenFile of ${where}`, origin);
    return { kind: 'token-file', path };
  }
  if (isSet(value.token)) {
    if (!isSendable(value.token))
      throw new AccessError('AccessInvalid', `${where} has ${UNSENDABLE}`);
    return { kind: 'token', token: value.token };
  }
  if (value.exec === undefined) return { kind: 'none' };
  return { kind: 'exec', plugin: pluginOf(user, value.exec, cluster) };
}

function pluginOf(
  { name, origin }: Entry<KubeconfigUser>,
  exec: ExecConfig,
  cluster: KubeconfigCluster,
): ExecPlugin {
  const where = `exec of user "${name}" in ${origin.name}`;
  if (!EXEC_VERSIONS.some((version) => version === exec.apiVersion)) {
    throw new AccessError(
      'AccessRefused',
      `${where} has apiVersion ${exec.apiVersion}, but only ${EXEC_VERSIONS.join(' and ')} are supported; set one that ${exec.command} supports`,
    );
  }
  if (exec.interactiveMode === 'Always') {
    throw new AccessError(
      'AccessRefused',
      `${where} has interactiveMode Always, but Snicket runs ${exec.command} without a terminal; use a token or a client certificate, such as those of a service account`,
    );
  }
  if (origin.folder === undefined) {
    throw new AccessError(
      'AccessRefused',
      `${where} runs ${exec.command}, but this kubeconfig is not a file on this machine; use a token or a client certificate`,
    );
  }
  const { command } = exec;
  return {
    apiVersion: exec.apiVersion,
    // A bare name is looked up in $PATH. A relative path with a slash is resolved against the kubeconfig's folder.
    command:
      command.includes('/') && !isAbsolute(command)
        ? resolvedPath(command, where, origin)
        : command,
    args: exec.args ?? [],
    env: Object.fromEntries((exec.env ?? []).map((variable) => [variable.name, variable.value])),
    provideClusterInfo: exec.provideClusterInfo ?? false,
    clusterConfig: cluster.extensions?.find((extension) => extension.name === EXEC_EXTENSION)
      ?.extension,
    installHint: exec.installHint,
  };
}

function rejectUnsupported({ name, origin, value }: Entry<KubeconfigUser>): void {
  const reject = (setting: string, advice: string) => {
    throw new AccessError(
      'AccessRefused',
      `user "${name}" in ${origin.name} has ${setting}, which is not supported; ${advice}`,
    );
  };
  const provider = value['auth-provider'];
  if (provider !== undefined) {
    reject(
      `auth-provider ${provider.name}`,
      'use the exec plugin of that provider: kubectl removed auth-provider in 1.26',
    );
  }
  if (isSet(value.username) || isSet(value.password)) {
    reject(
      'username and password',
      'use a token or a client certificate: Kubernetes removed basic authentication in 1.19',
    );
  }
  const isImpersonating =
    isSet(value.as) ||
    isSet(value['as-uid']) ||
    value['as-groups'] !== undefined ||
    value['as-user-extra'] !== undefined;
  if (isImpersonating) {
    reject(
      'impersonation (as, as-uid, as-groups or as-user-extra)',
      'use the credentials of that user, such as those of a service account',
    );
  }
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
