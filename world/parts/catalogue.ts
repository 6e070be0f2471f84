import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A set of programs built from one committed Go module. */
export interface GoPart {
  readonly kind: 'go';
  readonly name: string;
  readonly version: string;
  /** File name of each program, and its Go package. */
  readonly programs: Readonly<Record<string, string>>;
  /** Linker flags besides `-s -w`. */
  readonly linkerFlags?: string;
}

/** Programs from Debian's packages, unpacked beside the machine's own, never installed. */
export interface DebianPart {
  readonly kind: 'debian';
  readonly name: string;
  readonly packages: readonly string[];
  /** The programs that must be found, in the unpacked packages or on the machine. */
  readonly programs: readonly string[];
}

export type Part = GoPart | DebianPart;

const kubernetesVersion = 'v1.36.3';
const component = 'k8s.io/component-base/version';

/** Every part of every world: what a management cluster, tenants and workers run. */
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
    // Built from a module, the programs would call themselves v0.0.0-master, and kubelet refuses an API server of that version.
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

/** The user's cache folder, shared by all clones of this repository. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'snicket');
}

/** Where parts are kept. */
export function partsFolder(): string {
  return join(cacheFolder(), 'parts');
}

/** Go's name for this machine's processor. */
export const architecture = process.arch === 'x64' ? 'amd64' : process.arch;

/** Folder of a Go part's module in this repository. */
export function moduleFolder(part: GoPart): string {
  return join(import.meta.dir, 'go', part.name);
}

/** Name of a part's folder in the cache. It changes with everything that could change the programs. */
export function partFolderName(part: Part): string {
  const digest = createHash('sha256');
  if (part.kind === 'go') {
    for (const file of ['go.mod', 'go.sum'])
      digest.update(readFileSync(join(moduleFolder(part), file)));
    digest.update(JSON.stringify([part.programs, part.linkerFlags ?? '']));
    return `${part.name}-${part.version}-${architecture}-${digest.digest('hex').slice(0, 8)}`;
  }
  digest.update(JSON.stringify([part.packages, part.programs]));
  return `${part.name}-${architecture}-${digest.digest('hex').slice(0, 8)}`;
}

/** Path of a part's folder in the cache. */
export function partFolder(part: Part): string {
  return join(partsFolder(), partFolderName(part));
}
