/**
 * The access of a pod: environment variables, and a folder that the kubelet keeps up to date.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isIPv6 } from 'node:net';
import { AccessError, type ClusterAccess } from './cluster-access.ts';
import { certificatesIn } from './kubeconfig-pem.ts';

/** The folder where the kubelet mounts a pod's credentials. */
export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reports whether the environment is that of a pod. */
export function isInCluster(env: Environment): boolean {
  return isSet(env['KUBERNETES_SERVICE_HOST']) && isSet(env['KUBERNETES_SERVICE_PORT']);
}

/**
 * Returns the access of the pod that this process runs in. The token is re-read after it has been replaced. The CA is
 * read once, now.
 *
 * @throws AccessError
 */
export function inClusterAccess(
  env: Environment,
  folder: string = SERVICE_ACCOUNT_FOLDER,
): ClusterAccess {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!isSet(host) || !isSet(port)) {
    throw new AccessError(
      'NotInCluster',
      'not running in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; pass --kubeconfig FILE',
    );
  }
  const caPath = join(folder, 'ca.crt');
  const ca = certificatesIn(readMounted(caPath), caPath);
  const path = join(folder, 'token');
  readMounted(path);
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    ca,
    credentials: { kind: 'token-file', path },
    namespace: readMounted(join(folder, 'namespace')).trim() || 'default',
  };
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

function readMounted(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new AccessError(
      'NotInCluster',
      `${path} cannot be read; give the pod a service account, and do not set automountServiceAccountToken to false`,
      error,
    );
  }
}
