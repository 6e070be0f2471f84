/**
 * What the objects of the proxy are called, and where its files are.
 */
import { MANAGED_BY } from '../api/labels.ts';

/** The namespace and name of the DaemonSet, the ServiceAccount and the Secret. */
export const PROXY = { namespace: 'kube-system', name: 'snicket-proxy' } as const;

/** The ConfigMap with the tenant's CA and the addresses of the edge. */
export const PROXY_CONFIG = PROXY;

/** On the pod template: the Edge that the proxies use, and its driver. A move to another Edge rolls the proxies out. */
export const EDGE_ANNOTATION = 'snicket.dev/edge';

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
  edge: 'edge',
} as const;
