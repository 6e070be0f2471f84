/** How kube-proxy writes its rules. */
export type ProxyMode = 'iptables' | 'nftables';

/** Spec of the nodes of a cluster. */
export interface NodesSpec {
  /** Number of worker nodes. Default 1. */
  readonly workers?: number;
  /** Default nftables. */
  readonly proxyMode?: ProxyMode;
  /** Default 10.96.0.0/12. Tenants may all use the same one. */
  readonly serviceCidr?: string;
  /** First two bytes of pod addresses; the pods of node N are in PREFIX.N.0/24. Default 10.244. */
  readonly podPrefix?: string;
  /**
   * More flags for the kubelets of its workers. With --cloud-provider=external, nodes have no address, and logs and
   * exec fail, until a test sets the address.
   */
  readonly kubeletFlags?: readonly string[];
}

/** Spec of a tenant. */
export interface TenantSpec extends NodesSpec {
  /**
   * Writer of the endpoints of the Service `kubernetes`: `none`, as in hosted control planes, or `lease` for the API
   * server. Default none.
   */
  readonly endpointReconciler?: 'none' | 'lease';
  /** Start konnectivity-server, and agents on the workers. Default true. */
  readonly konnectivity?: boolean;
  /** More flags for this tenant's kube-apiserver. */
  readonly apiServerFlags?: readonly string[];
  /** More names in the certificate of its kube-apiserver. Default none. */
  readonly certificateNames?: readonly string[];
  /** Size of the memory disk for its etcd, in MiB. Default 512: room for thousands of objects. */
  readonly etcdDiskMiB?: number;
}

/** Spec of a world. */
export interface WorldSpec {
  /** Tenants by name: lower-case letters, digits and dashes, at most 12. Default: none, a management cluster alone. */
  readonly tenants?: Readonly<Record<string, TenantSpec>>;
  /** The management cluster. */
  readonly management?: Pick<
    TenantSpec,
    'workers' | 'proxyMode' | 'apiServerFlags' | 'etcdDiskMiB'
  >;
  /** Domain of the tenants' hosts. Default snicket.test. */
  readonly domain?: string;
}

/** Spec of nodes that join a control plane outside the world. */
export interface JoinSpec extends NodesSpec {
  /** Name of the cluster, and of its nodes: NAME-1, NAME-2, ... */
  readonly name: string;
  readonly hosts: Hosts;
  /** URL at which its nodes dial the API server, with a host name. */
  readonly server: string;
}

/** Host names at which clients outside a cluster dial its control plane. */
export interface Hosts {
  readonly api: string;
  readonly konnectivity: string;
}

/** Plan of the nodes of a cluster, with the address of its control plane. */
export interface NodesPlan {
  readonly name: string;
  readonly workers: readonly WorkerPlan[];
  readonly proxyMode: ProxyMode;
  readonly serviceCidr: string;
  /** Address of the Service `kubernetes`: the first address of the service range. */
  readonly serviceAddress: string;
  readonly podPrefix: string;
  readonly hosts: Hosts;
  /** URL at which kubelet and kube-proxy dial the API server. */
  readonly server: string;
  readonly kubeletFlags: readonly string[];
}

/** Plan of a cluster, with every default resolved. */
export interface ClusterPlan extends NodesPlan {
  readonly endpointReconciler: 'none' | 'lease';
  /** Address of the control plane, where API server and konnectivity-server listen. */
  readonly address: string;
  readonly konnectivity: boolean;
  readonly apiServerFlags: readonly string[];
  readonly certificateNames: readonly string[];
  readonly etcdDiskMiB?: number;
}

/** Plan of a worker node, with its addresses. */
export interface WorkerPlan {
  readonly name: string;
  readonly address: string;
  /** Range of the pods of this node. */
  readonly podCidr: string;
}

/** Plan of a world, with every default resolved. */
export interface WorldPlan {
  readonly domain: string;
  readonly management: ClusterPlan;
  readonly tenants: readonly ClusterPlan[];
}

/** Ports of every control plane, on its own address. */
export const API_PORT = 6443;
export const KONNECTIVITY_PORT = 8132;

/** The network of a world. Worlds are isolated from each other, so all have the same addresses. */
export const NETWORK = { prefix: '172.30', length: 16, resolver: '172.30.0.1' } as const;

/** Reports whether the nodes wait for an external cloud provider to get an address. */
export function hasExternalCloud({ kubeletFlags }: Pick<NodesPlan, 'kubeletFlags'>): boolean {
  return kubeletFlags.includes('--cloud-provider=external');
}

const MAX_TENANTS = 100;
const MAX_WORKERS = 100;
/** The third byte of workers' addresses is 100 to 255. */
const MAX_CLUSTERS = 156;

/**
 * Resolves the defaults of a spec.
 *
 * @throws if the spec is invalid, with the offending value
 */
export function planWorld(spec: WorldSpec): WorldPlan {
  const domain = (spec.domain ?? 'snicket.test').toLowerCase();
  if (!/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(domain)) {
    throw new Error(`domain '${spec.domain}' is not a DNS name such as snicket.test`);
  }
  const tenants = Object.entries(spec.tenants ?? {});
  if (tenants.length > MAX_TENANTS)
    throw new Error(`${tenants.length} tenants: at most ${MAX_TENANTS} fit into a world`);
  for (const [name] of tenants) {
    if (!/^[a-z]([a-z0-9-]{0,10}[a-z0-9])?$/.test(name)) {
      throw new Error(
        `tenant name '${name}': use lower-case letters, digits and dashes, beginning with a letter, 12 at most`,
      );
    }
    if (name === 'management' || name === 'network' || name === 'edge')
      throw new Error(`tenant name '${name}' is reserved`);
  }
  const plan = {
    domain,
    management: planCluster(
      'management',
      { ...spec.management, endpointReconciler: 'lease', konnectivity: false },
      0,
      domain,
    ),
    tenants: tenants.map(([name, tenant], index) => planCluster(name, tenant, index + 1, domain)),
  };
  assertUniqueHostNames([plan.management, ...plan.tenants]);
  return plan;
}

/**
 * Throws if a tenant has the name of a worker, such as tenant `a-1` and the first worker of `a`, because both are names
 * of hosts.
 */
function assertUniqueHostNames(clusters: readonly ClusterPlan[]): void {
  const workers = new Set(clusters.flatMap((cluster) => cluster.workers.map(({ name }) => name)));
  const shared = clusters.find(({ name }) => workers.has(name));
  if (shared)
    throw new Error(`tenant name '${shared.name}' is already used by a worker of another cluster`);
}

function planCluster(name: string, spec: TenantSpec, index: number, domain: string): ClusterPlan {
  const hosts = { api: `${name}.k8s.${domain}`, konnectivity: `${name}.konnectivity.${domain}` };
  return {
    ...planNodes({ ...spec, name, hosts, server: `https://${hosts.api}:${API_PORT}` }, index),
    endpointReconciler: spec.endpointReconciler ?? 'none',
    address: `${NETWORK.prefix}.1.${index + 1}`,
    konnectivity: spec.konnectivity ?? true,
    apiServerFlags: spec.apiServerFlags ?? [],
    certificateNames: spec.certificateNames ?? [],
    ...(spec.etcdDiskMiB !== undefined && { etcdDiskMiB: spec.etcdDiskMiB }),
  };
}

/**
 * Resolves the defaults for the nodes of a cluster.
 *
 * @param index index of the cluster, unique in its world.
 */
export function planNodes(spec: JoinSpec, index: number): NodesPlan {
  const { name, hosts, server } = spec;
  if (index >= MAX_CLUSTERS)
    throw new Error(`${name}: at most ${MAX_CLUSTERS} clusters fit into a world`);
  const workers = spec.workers ?? 1;
  if (!Number.isInteger(workers) || workers < 0 || workers > MAX_WORKERS) {
    throw new Error(`${name}: ${workers} workers; 0 to ${MAX_WORKERS} are possible`);
  }
  const proxyMode = spec.proxyMode ?? 'nftables';
  if (proxyMode !== 'nftables' && proxyMode !== 'iptables') {
    throw new Error(
      `${name}: proxyMode '${String(proxyMode)}'; nftables and iptables are possible`,
    );
  }
  const serviceCidr = spec.serviceCidr ?? '10.96.0.0/12';
  const podPrefix = spec.podPrefix ?? '10.244';
  if (!/^\d+\.\d+$/.test(podPrefix) || podPrefix.split('.').some((byte) => Number(byte) > 255))
    throw new Error(`${name}: podPrefix '${podPrefix}' is not two bytes such as 10.244`);
  const network = `${NETWORK.prefix}.0.0/${NETWORK.length}`;
  if (overlap(serviceCidr, network)) {
    throw new Error(
      `${name}: serviceCidr '${serviceCidr}' overlaps ${network}, the network of the world; choose another`,
    );
  }
  for (const range of [serviceCidr, network]) {
    if (overlap(`${podPrefix}.0.0/16`, range)) {
      throw new Error(`${name}: podPrefix '${podPrefix}' lies within ${range}; choose another`);
    }
  }
  return {
    name,
    workers: Array.from({ length: workers }, (_, i) => ({
      name: `${name}-${i + 1}`,
      // Third byte: 100 and up for workers of cluster 0, 1, ...; 1 for control planes, 2 for edges.
      address: `${NETWORK.prefix}.${100 + index}.${i + 1}`,
      podCidr: `${podPrefix}.${i + 1}.0/24`,
    })),
    proxyMode,
    serviceCidr,
    serviceAddress: firstAddress(serviceCidr),
    podPrefix,
    hosts,
    server,
    kubeletFlags: spec.kubeletFlags ?? [],
  };
}

/** Reports whether two IPv4 ranges overlap. */
function overlap(first: string, second: string): boolean {
  const [left, right] = [parseCidr(first), parseCidr(second)];
  const shift = 32 - Math.min(left.length, right.length);
  return left.network >>> shift === right.network >>> shift;
}

/** Returns the first host address of a range: 10.96.0.1 for 10.96.0.0/12. */
export function firstAddress(cidr: string): string {
  const first = parseCidr(cidr).network + 1;
  return [24, 16, 8, 0].map((shift) => (first >>> shift) & 255).join('.');
}

function parseCidr(cidr: string): { network: number; length: number } {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(cidr);
  const bytes = match?.slice(1, 5).map(Number) ?? [];
  const length = Number(match?.[5]);
  if (bytes.length !== 4 || bytes.some((byte) => byte > 255) || !(length >= 8 && length <= 30)) {
    throw new Error(`'${cidr}' is not an IPv4 range such as 10.96.0.0/12`);
  }
  const address = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  return { network: (address & (-1 << (32 - length))) >>> 0, length };
}
