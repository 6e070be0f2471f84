/**
 * The facts of one hosted control plane, whichever provider made it.
 */

/** A port of a Service, as routes and slices name it. */
export interface ServicePort {
  /** As clients of the Service see it. */
  readonly port: number;
  /** As its slices name it; empty if the Service has one port without a name. */
  readonly portName: string;
}

/** A control plane as its provider leaves it in the management cluster. */
export interface ControlPlane {
  /** The Service that leads to it, in the namespace of the Exposure. */
  readonly service: {
    readonly name: string;
    readonly api: ServicePort;
    /** Absent: no konnectivity. */
    readonly konnectivity?: ServicePort | undefined;
  };
  /** Absent while its Secret is not there: routes need none. */
  readonly ca?: AuthorityFiles | undefined;
}

/** A certificate authority as a Secret holds it. */
export interface AuthorityFiles {
  /** PEM, one certificate or several. */
  readonly certificate: string;
  /** PEM; absent where Snicket is not given it: then mode terminate has no certificate to serve. */
  readonly key?: string | undefined;
}

/** What the tenant's own API says of it. */
export interface TenantFacts {
  /** `v1.36.3`. */
  readonly version: string;
  /** The addresses of Service default/kubernetes, the primary family first. */
  readonly serviceAddresses: readonly string[];
  /** `cluster.local`. */
  readonly clusterDomain: string;
  /** Its nodes; read with `worker.address: node` only. */
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
  /** Certificate with chain and key, PEM: mode terminate. */
  | { readonly certificate: string; readonly key: string }
  /** 32 bytes as base64: mode passthrough. */
  | { readonly tenantKey: string };
