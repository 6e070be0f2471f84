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
import { baseParts } from '../world/parts/catalog.ts';
import { program } from '../world/parts/parts.ts';
import { NETWORK } from '../world/spec.ts';

/**
 * Everything that a world could leave on the machine, in a comparable form. It excludes other changes of the machine:
 * rotated logs, installed packages, other programs.
 */
export interface Footprint {
  readonly processes: readonly string[];
  /** Number of network namespaces with a process or an address of a world. */
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

/** Folders of the machine that programs of a world would write to without their own mounts. */
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

/** Matches files and mounts whose path the world's programs choose themselves. */
const NAMES =
  /snicket|kube|k8s|etcd|containerd|\b(runc|cni|nri)\b|netns|konnectivity|xtables|haproxy|traefik|envoy|contour|cgroup|^\/var\/log\/(pods|containers)/;

/** Matches mount points of hosts, which must not appear on the machine, in the format of /proc/self/mounts. */
const MOUNT_POINTS = /^\S+ \/(etc|usr|var|run|sys|proc(\/sys\/\S+)?|dev\/shm) /;

/** Matches package lists of the machine, some of which match {@link NAMES}. */
const PACKAGES = /^\/var\/(lib|log)\/(dpkg|apt)\//;

/**
 * Matches the machine's sysctls that kubelet, kube-proxy, container runtimes and network plugins write. Those of single
 * interfaces are left out.
 */
const SYSCTLS =
  /^\/proc\/sys\/(vm\/(overcommit|panic|max_map_count)|kernel\/(panic|keys\/root_|core_pattern|pid_max|threads-max)|fs\/(inotify|nr_open|may_detach)|user\/|net\/(?!ipv[46]\/(conf|neigh)\/(?!all\/|default\/|lo\/)))/;

/** Address prefixes of hosts and pods in a world. */
const ADDRESSES = [`${NETWORK.prefix}.`, '10.244.'];

/** Matches cgroups that worlds and container runtimes create. Other cgroups may change at any time. */
const CGROUPS = /snicket|kubepods|k8s\.io|containerd|runc/;

/** Returns the current footprint. */
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

/**
 * Reports whether a line names a world's file. Everything in the folders of worlds and parts counts, wherever they are.
 */
function isNamed(line: string): boolean {
  return NAMES.test(line) || line.includes(worldsFolder) || line.includes(partsFolder());
}

/**
 * Returns processes that run a program of the cache, have a world's file as an argument, or are in a world's cgroup.
 */
function worldProcesses(): string[] {
  return processes()
    .filter(isOfWorld)
    .map((pid) => `${pid}: ${commandOf(pid)} ${read(`/proc/${pid}/cgroup`)}`);
}

function isOfWorld(pid: number): boolean {
  const command = commandOf(pid);
  if (command === '') return false; // a kernel thread, or a process that is exiting
  if (command.startsWith('go build ')) return false; // a build of a part for another scenario
  // /snicket- only in cgroups, because programs of other tests have folders /tmp/snicket-...
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
      return ''; // the process has just ended
    }
  });
  return new Set(networks.filter(Boolean)).size;
}

/** Reports whether a process is in the network of a world. A network that is just being created has no address yet. */
function isInWorld(pid: number): boolean {
  const addresses = read(`/proc/${pid}/net/fib_trie`);
  return ADDRESSES.some((prefix) => addresses.includes(` ${prefix}`)) || isOfWorld(pid);
}

async function firewallRules(): Promise<string> {
  // The libraries of an unpacked nft are beside it.
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

/** Matches values that change without a write. Only settings count. */
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

/** Returns the entries of a folder; none if it does not exist. */
function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  }
}

/** Returns the PIDs of running processes. A zombie holds no resources, and its parent reaps it at any time. */
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
    return ''; // deleted or not readable
  }
}
