/**
 * What is known of a tenant, and what its proxies are given.
 */

/** What the tenant's own API says of it. */
export interface TenantFacts {
  /** `v1.36.3`. */
  readonly version: string;
  /** The addresses of Service default/kubernetes, the primary family first. */
  readonly serviceAddresses: readonly string[];
  /** `cluster.local`. */
  readonly clusterDomain: string;
  /** Its nodes; read with `worker.address: Node` only. */
  readonly nodes: readonly TenantNode[];
}

/** A worker. */
export interface TenantNode {
  readonly name: string;
  /** InternalIPs, one of each family at most. Empty on a node whose cloud provider has not come to it yet. */
  readonly addresses: readonly string[];
  /** Our judgement: a proxy there answers and its way to the edge is verified. */
  readonly ready: boolean;
}

/** What a worker's proxy is given to serve with. */
export type ProxyCredentials =
  /** Certificate with chain and key, PEM: mode Terminate. */
  | { readonly certificate: string; readonly key: string }
  /** 32 bytes as base64: mode Passthrough. */
  | { readonly tenantKey: string };
