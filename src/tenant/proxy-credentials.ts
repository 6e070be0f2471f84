/**
 * The ServiceAccount, the ConfigMap and the Secret of the proxy. The proxy watches its files, so a new certificate
 * needs no new pod.
 */
import type { KubeObject } from '../kube/object.ts';
import type { ProxyCredentials } from './tenant-facts.ts';
import { PROXY, PROXY_CONFIG, PROXY_FILES, PROXY_LABELS } from './proxy-names.ts';

/** Returns the ServiceAccount, without permissions and without a token: the proxy uses no Kubernetes API. */
export function proxyAccount(): KubeObject {
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...PROXY, labels: PROXY_LABELS },
    automountServiceAccountToken: false,
  };
  return account;
}

/**
 * Returns the ConfigMap with the CA that the edge's certificate must chain to, and the addresses of the edge. The proxy
 * reloads both, so no pod restarts.
 */
export function proxyConfig(certificate: string, edge: string): KubeObject {
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...PROXY_CONFIG, labels: PROXY_LABELS },
    data: { [PROXY_FILES.authorities]: certificate, [PROXY_FILES.edge]: edge },
  };
  return configMap;
}

/** Returns the Secret with a certificate and its key, or with the tenant key. */
export function proxySecret(credentials: ProxyCredentials): KubeObject {
  const files =
    'tenantKey' in credentials
      ? { [PROXY_FILES.tenantKey]: credentials.tenantKey }
      : {
          [PROXY_FILES.certificate]: credentials.certificate,
          [PROXY_FILES.key]: credentials.key,
        };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...PROXY, labels: PROXY_LABELS },
    // The type of a Secret is immutable, so both modes use the same type.
    type: 'Opaque',
    data: Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
    ),
  };
  return secret;
}
