/**
 * What Snicket knows about a tenant, and the credentials of its proxies.
 */

/** What the API server of the tenant reports. */
export interface TenantFacts {
  /** Such as `v1.36.3`. */
  readonly version: string;
  /** The addresses of Service default/kubernetes, the primary family first. */
  readonly serviceAddresses: readonly string[];
  /** Such as `cluster.local`. */
  readonly clusterDomain: string;
  /** The nodes. Read only with `worker.address: Node`. */
  readonly nodes: readonly TenantNode[];
}

/** A node of a tenant. */
export interface TenantNode {
  readonly name: string;
  /** The InternalIPs, at most one of each family. Empty until the cloud provider sets them. */
  readonly addresses: readonly string[];
  /** Whether a proxy on the node answers, and its connection to the edge is verified. */
  readonly ready: boolean;
}

/** The credentials with which a proxy serves. */
export type ProxyCredentials =
  /** For mode Terminate: a certificate chain and its key, as PEM. */
  | { readonly certificate: string; readonly key: string }
  /** For mode Passthrough: 32 bytes, as base64. */
  | { readonly tenantKey: string };
