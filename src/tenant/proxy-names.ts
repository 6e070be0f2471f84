/**
 * The names of the objects and files of the proxy.
 */
import { MANAGED_BY } from '../api/labels.ts';

/** The namespace and name of the DaemonSet, the ServiceAccount and the Secret. */
export const PROXY = { namespace: 'kube-system', name: 'snicket-proxy' } as const;

/** The ConfigMap with the tenant's CA and the addresses of the edge. */
export const PROXY_CONFIG = PROXY;

/**
 * The annotation of the pod template with the Edge that the proxies use, and its driver. A move to another Edge
 * triggers a rollout.
 */
export const EDGE_ANNOTATION = 'snicket.dev/edge';

/**
 * The annotation of the ConfigMap with the Edge, its driver, the host and the port that its addresses were reported for.
 * Absent if the spec of the Edge has the addresses, or if there are none.
 */
export const REPORTED_ADDRESSES_ANNOTATION = 'snicket.dev/reported-addresses-of';

/** The selector of the DaemonSet, which is immutable. */
export const PROXY_SELECTOR = { 'app.kubernetes.io/name': PROXY.name } as const;

/** The labels of all objects of the proxy. */
export const PROXY_LABELS = { ...MANAGED_BY, ...PROXY_SELECTOR } as const;

/** The keys of the Secret and the ConfigMap, which are the names of the mounted files. */
export const PROXY_FILES = {
  authorities: 'ca.crt',
  certificate: 'tls.crt',
  key: 'tls.key',
  tenantKey: 'tenant.key',
  edge: 'edge',
} as const;
