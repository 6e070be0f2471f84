/** How kube-proxy writes its rules. */
export type ProxyMode = 'iptables' | 'nftables';

/** What a test asks for in the nodes of a cluster. */
export interface NodesSpec {
  /** Number of worker nodes. Default 1. */
  readonly workers?: number;
  /** Default nftables. */
  readonly proxyMode?: ProxyMode;
  /** Default 10.96.0.0/12. Tenants may all use the same one. */
  readonly serviceCidr?: string;
  /** First two bytes of the pods' addresses; node N has the pods PREFIX.N.0/24. Default 10.244. */
  readonly podPrefix?: string;
  /**
   * More flags for the kubelets of its workers. With --cloud-provider=external they have no address, so that neither logs
   * nor exec work, until a test gives them one in the place of that provider.
   */
  readonly kubeletFlags?: readonly string[];
}

/** What a test asks for in one tenant. */
export interface TenantSpec extends NodesSpec {
  /**
   * Who writes the endpoints of the Service `kubernetes`: `none`, as hosted control planes are set up, or
   * `lease`, the API server itself. Default none.
   */
  readonly endpointReconciler?: 'none' | 'lease';
  /** Start konnectivity-server, and agents on the workers. Default true. */
  readonly konnectivity?: boolean;
  /** More flags for this tenant's kube-apiserver. */
  readonly apiServerFlags?: readonly string[];
  /** More names in the certificate of its kube-apiserver. Default none. */
  readonly certificateNames?: readonly string[];
  /** MiB of the memory disk that holds its etcd. Default 512: room for thousands of objects. */
  readonly etcdDiskMiB?: number;
}

/** What a test asks for. */
export interface WorldSpec {
  /** By name: lower-case letters, digits and dashes, at most 12. Default: none, a management cluster alone. */
  readonly tenants?: Readonly<Record<string, TenantSpec>>;
  /** The management cluster. */
  readonly management?: Pick<
    TenantSpec,
    'workers' | 'proxyMode' | 'apiServerFlags' | 'etcdDiskMiB'
  >;
  /** Domain below which tenants have their hosts. Default snicket.test. */
  readonly domain?: string;
}

/** Nodes of a control plane that the world did not make. */
export interface JoinSpec extends NodesSpec {
  /** Name of the cluster, and of its nodes: NAME-1, NAME-2, ... */
  readonly name: string;
  readonly hosts: Hosts;
  /** Where its nodes dial the API server: a URL with its host name. */
  readonly server: string;
}

/** Names by which a control plane is dialled from outside. */
export interface Hosts {
  readonly api: string;
  readonly konnectivity: string;
}

/** The nodes of a cluster, with all that they know of its control plane, whoever runs that. */
export interface NodesPlan {
  readonly name: string;
  readonly workers: readonly WorkerPlan[];
  readonly proxyMode: ProxyMode;
  readonly serviceCidr: string;
  /** The address of the Service `kubernetes`: the first of the service range. */
  readonly serviceAddress: string;
  readonly podPrefix: string;
  readonly hosts: Hosts;
  /** Where kubelet and kube-proxy dial the API server. */
  readonly server: string;
  readonly kubeletFlags: readonly string[];
}

/** A cluster with every choice made. */
export interface ClusterPlan extends NodesPlan {
  readonly endpointReconciler: 'none' | 'lease';
  /** Address of the control plane, where API server and konnectivity-server listen. */
  readonly address: string;
  readonly konnectivity: boolean;
  readonly apiServerFlags: readonly string[];
  readonly certificateNames: readonly string[];
  readonly etcdDiskMiB?: number;
}

/** A worker node with its addresses. */
export interface WorkerPlan {
  readonly name: string;
  readonly address: string;
  /** Pods of this node. */
  readonly podCidr: string;
}

/** A world with every choice made. */
export interface WorldPlan {
  readonly domain: string;
  readonly management: ClusterPlan;
  readonly tenants: readonly ClusterPlan[];
}

/** Ports on which every control plane listens on its own address. */
export const API_PORT = 6443;
export const KONNECTIVITY_PORT = 8132;

/** The world's one network. Worlds cannot meet, so all have the same. */
export const NETWORK = { prefix: '172.30', length: 16, resolver: '172.30.0.1' } as const;

/** Whether the nodes wait for an external cloud provider: until it comes they have a name, and no address. */
export function hasExternalCloud({ kubeletFlags }: Pick<NodesPlan, 'kubeletFlags'>): boolean {
  return kubeletFlags.includes('--cloud-provider=external');
}

const MAX_TENANTS = 100;
const MAX_WORKERS = 100;
/** The third byte of workers' addresses begins at 100. */
const MAX_CLUSTERS = 156;

/** Makes every choice that a spec leaves open; a spec that cannot be is an error with the offending value. */
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
      throw new Error(`tenant name '${name}' is taken by the world itself`);
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
  refuseSharedHostNames([plan.management, ...plan.tenants]);
  return plan;
}

/** A control plane is a host with the cluster's name: the tenant `a-1` and the first worker of `a` would be one. */
function refuseSharedHostNames(clusters: readonly ClusterPlan[]): void {
  const workers = new Set(clusters.flatMap((cluster) => cluster.workers.map(({ name }) => name)));
  const shared = clusters.find(({ name }) => workers.has(name));
  if (shared)
    throw new Error(`tenant name '${shared.name}' is taken by a worker of another cluster`);
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
 * Makes every choice for the nodes of a cluster.
 *
 * @param index of the cluster in its world, which no other has.
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
      `${name}: serviceCidr '${serviceCidr}' meets ${network}, the world's own; choose another`,
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
      // Third byte 100 and up: workers of cluster 0, 1, ...; control planes are in 1, edges in 2.
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

/** Do two IPv4 ranges have an address in common? */
function overlap(one: string, other: string): boolean {
  const [left, right] = [parseCidr(one), parseCidr(other)];
  const shift = 32 - Math.min(left.length, right.length);
  return left.network >>> shift === right.network >>> shift;
}

/** The first address after the network's own: 10.96.0.0/12 has 10.96.0.1. */
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
