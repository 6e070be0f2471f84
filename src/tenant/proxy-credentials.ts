/**
 * The files of the proxy. It watches them, so that a new certificate needs no new pod.
 */
import type { KubeObject } from '../kube/object.ts';
import type { ProxyCredentials } from './tenant-facts.ts';
import { PROXY, PROXY_CONFIG, PROXY_FILES, PROXY_LABELS } from './proxy-names.ts';

/** The ServiceAccount, which has no rights and no token: the proxy talks to no API. */
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
 * The ConfigMap with the CA that the edge's certificate has to chain to, and with the addresses of the edge. The proxy
 * follows both, so that neither restarts a pod.
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

/** The Secret: a certificate and its key, or the tenant's key. */
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
    // One for both modes: the type of a Secret is immutable.
    type: 'Opaque',
    data: Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
    ),
  };
  return secret;
}
