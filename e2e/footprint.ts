import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  type Dirent,
} from 'node:fs';
import { join } from 'node:path';
import { hierarchies } from '../world/machine/cgroup.ts';
import { run } from '../world/machine/command.ts';
import { identityOf, isRunning } from '../world/machine/identity.ts';
import { worldsFolder } from '../world/machine/ledger.ts';
import { partFolder, partsFolder } from '../world/parts/cache.ts';
import { baseParts } from '../world/parts/catalogue.ts';
import { program } from '../world/parts/parts.ts';
import { NETWORK } from '../world/spec.ts';

/**
 * Everything on the machine that a world could leave behind, in a form that can be compared; and nothing else, since the
 * machine has a life of its own: logs are rotated, packages installed, other programs come and go.
 */
export interface Footprint {
  readonly processes: readonly string[];
  /** How many network namespaces there are with a process or an address of a world. */
  readonly networks: number;
  readonly namedNetworks: string;
  readonly mounts: readonly string[];
  readonly cgroups: readonly string[];
  readonly addresses: string;
  readonly routes: string;
  readonly firewall: string;
  readonly sysctls: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

/** Folders that programs of a world would write to, if they wrote to the machine's own. */
const WRITABLE = [
  '/etc',
  '/opt',
  '/run',
  '/var/lib',
  '/var/log',
  '/var/run',
  '/usr/libexec',
  '/dev/shm',
  worldsFolder,
];

/** What a world's programs call their files and mounts, where they choose the place themselves. */
const NAMES =
  /snicket|kube|k8s|etcd|containerd|\b(runc|cni|nri)\b|netns|konnectivity|xtables|haproxy|traefik|envoy|contour|cgroup|^\/var\/log\/(pods|containers)/;

/** Where hosts of a world mount their own, which must stay with them: in the words of /proc/self/mounts. */
const MOUNT_POINTS = /^\S+ \/(etc|usr|var|run|sys|proc(\/sys\/\S+)?|dev\/shm) /;

/** Lists of the machine's packages, some of which have such names. */
const PACKAGES = /^\/var\/(lib|log)\/(dpkg|apt)\//;

/**
 * Settings of the machine that kubelet, kube-proxy, container runtimes and network plugins write. Those of single
 * interfaces come and go with these.
 */
const SYSCTLS =
  /^\/proc\/sys\/(vm\/(overcommit|panic|max_map_count)|kernel\/(panic|keys\/root_|core_pattern|pid_max|threads-max)|fs\/(inotify|nr_open|may_detach)|user\/|net\/(?!ipv[46]\/(conf|neigh)\/(?!all\/|default\/|lo\/)))/;

/** Addresses that hosts and pods of a world have. */
const ADDRESSES = [`${NETWORK.prefix}.`, '10.244.'];

/** Cgroups that worlds and container runtimes make; others come and go with the machine's own life. */
const CGROUPS = /snicket|kubepods|k8s\.io|containerd|runc/;

/** Reads the footprint of the moment. */
export async function footprint(): Promise<Footprint> {
  return {
    processes: worldProcesses(),
    networks: networkCount(),
    namedNetworks: (await run(['ip', 'netns'])).stdout,
    mounts: readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => isNamed(line) || MOUNT_POINTS.test(line))
      .toSorted(),
    cgroups: hierarchies()
      .flatMap(({ mountPoint }) => foldersBelow(mountPoint))
      .filter((path) => CGROUPS.test(path)),
    addresses: (await run(['ip', '-oneline', '-brief', 'address'])).stdout,
    routes: (await run(['ip', 'route', 'show', 'table', 'all'])).stdout,
    firewall: await firewallRules(),
    sysctls: sysctls(),
    files: WRITABLE.flatMap((folder) => entriesOf(folder, 3))
      .filter((path) => isNamed(path) && !PACKAGES.test(path))
      .toSorted(),
  };
}

/** Wherever the worlds' own folder and that of their parts are, what is in them counts. */
function isNamed(line: string): boolean {
  return NAMES.test(line) || line.includes(worldsFolder) || line.includes(partsFolder());
}

/** Processes that run a program of the cache, or for a file of a world, or in a world's cgroup. */
function worldProcesses(): string[] {
  return processes()
    .filter(isOfWorld)
    .map((pid) => `${pid}: ${commandOf(pid)} ${read(`/proc/${pid}/cgroup`)}`);
}

function isOfWorld(pid: number): boolean {
  const command = commandOf(pid);
  if (command === '') return false; // of the kernel, or on its way out: its memory is gone already
  if (command.startsWith('go build ')) return false; // builds a part for another scenario
  // Of cgroups alone: programs of other tests have folders /tmp/snicket-...
  const isMarked = [partsFolder(), worldsFolder].some((mark) => command.includes(mark));
  return isMarked || read(`/proc/${pid}/cgroup`).includes('/snicket-');
}

function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
}

function networkCount(): number {
  const networks = processes().map((pid) => {
    try {
      return isInWorld(pid) ? readlinkSync(`/proc/${pid}/ns/net`) : '';
    } catch {
      return ''; // it has just ended
    }
  });
  return new Set(networks.filter(Boolean)).size;
}

/** Is this process in the network of a world, whatever program it is? One that is just being made has no address yet. */
function isInWorld(pid: number): boolean {
  const addresses = read(`/proc/${pid}/net/fib_trie`);
  return ADDRESSES.some((prefix) => addresses.includes(` ${prefix}`)) || isOfWorld(pid);
}

async function firewallRules(): Promise<string> {
  // The library of an nft that is unpacked, not installed, lies beside it.
  const libraries = join(
    partFolder(baseParts.tools),
    'usr',
    'lib',
    `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`,
  );
  const { stdout } = await run([program('nft'), '--stateless', 'list', 'ruleset'], {
    env: { LD_LIBRARY_PATH: libraries },
  });
  return stdout;
}

/** Values that change by themselves are left out: what counts is what somebody set. */
const COUNTERS =
  /random|ns_last_pid|-state|-nr$|nr_|_nr$|conntrack_count|\/pty\/|inode-|file-|stat|sched_domain|perf_event_max_sample_rate|next_id|keys_usage/;

function sysctls(): Record<string, string> {
  const values: Record<string, string> = {};
  const visit = (folder: string) => {
    for (const entry of entriesIn(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (SYSCTLS.test(path) && !COUNTERS.test(path) && isWritable(path))
        values[path] = read(path);
    }
  };
  for (const tree of ['kernel', 'vm', 'net', 'fs', 'user'])
    if (existsSync(`/proc/sys/${tree}`)) visit(`/proc/sys/${tree}`);
  return values;
}

function isWritable(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o222) !== 0;
}

function foldersBelow(path: string): string[] {
  const folders = entriesIn(path).filter((entry) => entry.isDirectory());
  return folders.flatMap((folder) => [
    join(path, folder.name),
    ...foldersBelow(join(path, folder.name)),
  ]);
}

function entriesOf(folder: string, depth: number): string[] {
  if (depth === 0) return [];
  return entriesIn(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [path, ...entriesOf(path, depth - 1)] : [path];
  });
}

/** None of a folder that is not there, or has just gone. */
function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  }
}

/** Those that run. A dead one that its parent has not asked about yet holds nothing, and goes when it pleases that. */
function processes(): number[] {
  const pids = readdirSync('/proc').map(Number);
  return pids.filter((pid) => {
    const identity = Number.isInteger(pid) && pid !== process.pid ? identityOf(pid) : undefined;
    return identity !== undefined && isRunning(identity);
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // gone, or not for reading
  }
}
