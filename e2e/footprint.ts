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

/** Everything on the machine that a world could leave behind, in a form that can be compared. */
export interface Footprint {
  readonly processes: readonly string[];
  /** Network namespaces that some process is in. */
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

/** Cgroups that worlds and container runtimes make; others come and go with the machine's own life. */
const CGROUPS = /snicket|kubepods|k8s\.io|containerd|runc/;

/** Reads the footprint of the moment. */
export async function footprint(): Promise<Footprint> {
  return {
    processes: worldProcesses(),
    networks: networkCount(),
    namedNetworks: (await run(['ip', 'netns'])).stdout,
    mounts: readFileSync('/proc/self/mounts', 'utf8').split('\n').toSorted(),
    cgroups: hierarchies()
      .flatMap(({ mountPoint }) => foldersBelow(mountPoint))
      .filter((path) => CGROUPS.test(path)),
    addresses: (await run(['ip', '-oneline', '-brief', 'address'])).stdout,
    routes: (await run(['ip', 'route', 'show', 'table', 'all'])).stdout,
    firewall: await firewallRules(),
    sysctls: sysctls(),
    files: WRITABLE.flatMap((folder) => entriesOf(folder, 3)),
  };
}

/** Processes that run a program of the cache, or for a file of a world, or in a world's cgroup. */
function worldProcesses(): string[] {
  return processes().flatMap((pid) => {
    const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
    if (command === '') return []; // of the kernel, or on its way out: its memory is gone already
    const cgroup = read(`/proc/${pid}/cgroup`);
    // Of cgroups alone: programs of other tests have folders /tmp/snicket-...
    const isOfWorld = [partsFolder(), worldsFolder].some((mark) => command.includes(mark));
    return isOfWorld || cgroup.includes('/snicket-') ? [`${pid}: ${command} ${cgroup}`] : [];
  });
}

function networkCount(): number {
  const networks = processes().map((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/net`);
    } catch {
      return ''; // it has just ended
    }
  });
  return new Set(networks.filter(Boolean)).size;
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
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (!COUNTERS.test(path) && (statSync(path).mode & 0o222) !== 0)
        values[path] = read(path);
    }
  };
  for (const tree of ['kernel', 'vm', 'net', 'fs', 'user'])
    if (existsSync(`/proc/sys/${tree}`)) visit(`/proc/sys/${tree}`);
  return values;
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
