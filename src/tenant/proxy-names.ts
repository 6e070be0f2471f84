/**
 * What the objects of the proxy are called, and where its files are.
 */
import { MANAGED_BY } from '../api/labels.ts';

/** The namespace and name of the DaemonSet, the ServiceAccount and the Secret. */
export const PROXY = { namespace: 'kube-system', name: 'snicket-proxy' } as const;

/** The ConfigMap with the tenant's CA. */
export const PROXY_CA = { namespace: PROXY.namespace, name: `${PROXY.name}-ca` } as const;

/** The DaemonSet's selector, which is immutable. */
export const PROXY_SELECTOR = { 'app.kubernetes.io/name': PROXY.name } as const;

/** On all of them. */
export const PROXY_LABELS = { ...MANAGED_BY, ...PROXY_SELECTOR } as const;

/** Keys of the Secret and the ConfigMap, and so names of files. */
export const PROXY_FILES = {
  authorities: 'ca.crt',
  certificate: 'tls.crt',
  key: 'tls.key',
  tenantKey: 'tenant.key',
} as const;
