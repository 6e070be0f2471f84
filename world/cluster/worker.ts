import { randomUUID } from 'node:crypto';
import { constants, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Output, RunOptions } from '../machine/command.ts';
import type { Daemon } from '../machine/daemon.ts';
import { Host } from '../machine/host.ts';
import { repository } from '../repository.ts';
import type { Ledger } from '../machine/ledger.ts';
import type { Link } from '../machine/network.ts';
import { IMAGES, imagesFolder } from '../images/images.ts';
import { partFolder, partFolderName, partsFolder } from '../parts/cache.ts';
import { baseParts } from '../parts/catalog.ts';
import { hasExternalCloud, NETWORK, type NodesPlan, type WorkerPlan } from '../spec.ts';
import { waitFor } from '../wait.ts';
import type { ClusterApi } from './cluster-api.ts';

/** Folders of the machine that a worker sees below /run/snicket. */
const SHARED = { parts: partsFolder(), images: imagesFolder(), repository };

const FILES = '/run/snicket/files';
const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';

/** Returns the path of a machine's file on a worker. A path outside the shared folders stays the same. */
export function onWorker(path: string): string {
  for (const [name, folder] of Object.entries(SHARED)) {
    if (path === folder || path.startsWith(`${folder}/`))
      return `/run/snicket/${name}${path.slice(folder.length)}`;
  }
  return path;
}

/** A worker node: a host with containerd, kubelet, kube-proxy and a CNI bridge. */
export class Worker {
  readonly name: string;
  readonly address: string;
  readonly host: Host;
  readonly link: Link;
  readonly #cluster: NodesPlan;
  readonly #plan: WorkerPlan;

  private constructor(cluster: NodesPlan, plan: WorkerPlan, host: Host, link: Link) {
    this.name = plan.name;
    this.address = plan.address;
    this.host = host;
    this.link = link;
    this.#cluster = cluster;
    this.#plan = plan;
  }

  /** Creates the host with its network; nothing runs yet. */
  static async create(
    ledger: Ledger,
    cluster: NodesPlan,
    plan: WorkerPlan,
    connect: (host: Host) => Promise<Link>,
  ): Promise<Worker> {
    mkdirSync(imagesFolder(), { recursive: true });
    const host = await Host.create(ledger, {
      name: plan.name,
      worker: true,
      shared: SHARED,
      tools: partFolder(baseParts.tools),
      nameserver: NETWORK.resolver,
    });
    const worker = new Worker(cluster, plan, host, await connect(host));
    // Routes the pods of each other node through that node.
    for (const other of cluster.workers) {
      if (other.name !== plan.name)
        await host.exec(['ip', 'route', 'add', other.podCidr, 'via', other.address]);
    }
    return worker;
  }

  /** Runs a command as a process of this node, outside any pod. */
  async exec(...argv: string[]): Promise<string> {
    return (await this.run(argv)).stdout;
  }

  /** Like {@link exec}, with options, and returns stdout and stderr. */
  async run(argv: readonly string[], options: RunOptions = {}): Promise<Output> {
    return this.host.exec(argv.map(onWorker), {
      ...options,
      env: { PATH: WORKER_PATH, ...options.env },
    });
  }

  /** Starts a long-running program on this node, outside any pod. */
  async start(name: string, ...argv: string[]): Promise<Daemon> {
    return this.host.start(name, argv.map(onWorker), {
      env: { PATH: WORKER_PATH, HOME: '/var/tmp' },
    });
  }

  /** A program of this node: containerd, kubelet, kube-proxy, or one that a test started. */
  daemon(name: string): Daemon {
    return this.host.daemon(name);
  }

  /** Starts containerd and imports images. */
  async startContainerd(archives: readonly string[]): Promise<void> {
    this.#write('containerd.toml', containerdConfig());
    this.#write('cni/10-bridge.conflist', JSON.stringify(cniConfig(this.#plan.podCidr)));
    const containerd = await this.start(
      'containerd',
      'containerd',
      '--config',
      `${FILES}/containerd.toml`,
    );
    const socket = join('/proc', String(this.host.pid), 'root', CONTAINERD_SOCKET);
    await waitFor(
      `containerd of ${this.name} listens`,
      () => {
        if (!containerd.running)
          throw new Error(`containerd of ${this.name} ended:\n${containerd.tail()}`);
        return existsSync(socket);
      },
      { everyMs: 20 },
    );
    for (const archive of archives) await this.importImage(archive);
  }

  /** Imports an OCI archive into this node's containerd. */
  async importImage(archive: string): Promise<void> {
    await importImage(this.host, archive);
  }

  /** Starts kubelet and kube-proxy. The API server should be ready, because both back off after failures. */
  async startKubelet(api: ClusterApi): Promise<void> {
    const cluster = this.#cluster;
    const files = join(this.host.folder, 'files');
    await api.writeUser(
      join(files, 'kubelet.kubeconfig'),
      { commonName: `system:node:${this.name}`, organization: 'system:nodes' },
      cluster.server,
    );
    await api.writeUser(
      join(files, 'kube-proxy.kubeconfig'),
      { commonName: 'system:kube-proxy' },
      cluster.server,
    );
    this.#write('ca.crt', api.authority.certificate);
    this.#write('resolv.conf', `nameserver ${NETWORK.resolver}\n`);
    this.#write('kubelet.json', JSON.stringify(kubeletConfig()));
    await this.start(
      'kubelet',
      'kubelet',
      `--config=${FILES}/kubelet.json`,
      `--kubeconfig=${FILES}/kubelet.kubeconfig`,
      `--hostname-override=${this.name}`,
      // Nodes of an external cloud provider have only a name until that provider gives them an address.
      ...(hasExternalCloud(cluster) ? [] : [`--node-ip=${this.address}`]),
      ...cluster.kubeletFlags,
    );
    await this.start(
      'kube-proxy',
      'kube-proxy',
      `--kubeconfig=${FILES}/kube-proxy.kubeconfig`,
      `--hostname-override=${this.name}`,
      `--proxy-mode=${cluster.proxyMode}`,
      `--cluster-cidr=${cluster.podPrefix}.0.0/16`,
      // The conntrack table belongs to the machine, so kube-proxy must not change its limits.
      '--conntrack-max-per-core=0',
      '--conntrack-min=0',
    );
  }

  #write(name: string, content: string): void {
    const path = join(this.host.folder, 'files', name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
  }
}

/** Imports an OCI archive, a file of the machine, into the containerd of a worker's host. */
export async function importImage(
  host: Pick<Host, 'folder' | 'exec'>,
  archive: string,
): Promise<void> {
  const name = `${randomUUID()}.tar`;
  const copy = join(host.folder, 'files', name);
  const isShared = onWorker(archive) !== archive;
  if (!isShared) copyFileSync(archive, copy, constants.COPYFILE_FICLONE);
  try {
    const visible = isShared ? onWorker(archive) : `${FILES}/${name}`;
    await host.exec(['ctr', '--namespace', 'k8s.io', 'images', 'import', '--local', visible], {
      env: { PATH: WORKER_PATH },
    });
  } finally {
    rmSync(copy, { force: true });
  }
}

const WORKER_PATH = [
  ...[baseParts.kubernetes, baseParts.containerd].map(
    (part) => `/run/snicket/parts/${partFolderName(part)}`,
  ),
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
].join(':');

function kubeletConfig(): unknown {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    failSwapOn: false,
    resolvConf: `${FILES}/resolv.conf`,
    clusterDNS: [NETWORK.resolver],
    clusterDomain: 'cluster.local',
    containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
    volumePluginDir: '/var/lib/kubelet/volume-plugins',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: `${FILES}/ca.crt` },
    },
    authorization: { mode: 'Webhook' },
    // A world shares the machine's disk and memory, so other programs that fill the disk must not cause evictions.
    evictionHard: {
      'memory.available': '50Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
    },
    imageGCHighThresholdPercent: 100,
    nodeStatusUpdateFrequency: '5s',
  };
}

function containerdConfig(): string {
  return `version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "${CONTAINERD_SOCKET}"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "${IMAGES.pause}"
[plugins.'io.containerd.cri.v1.runtime']
  # Lowering it needs CAP_SYS_RESOURCE, which root in a sandbox may lack.
  restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ["/run/snicket/parts/${partFolderName(baseParts.cni)}"]
  conf_dir = "${FILES}/cni"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
  BinaryName = "runc"
  SystemdCgroup = false
`;
}

function cniConfig(podCidr: string): unknown {
  return {
    cniVersion: '1.0.0',
    name: 'world',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet: podCidr }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}
