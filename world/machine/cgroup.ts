import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { identityOf, signal } from './identity.ts';

/** A mounted cgroup hierarchy. Version 1 has one per controller, version 2 has one for all. */
export interface Hierarchy {
  readonly version: 1 | 2;
  readonly mountPoint: string;
  /** As in the mount options: `cpu`, `cpu,cpuacct`, `name=systemd`; empty for version 2. */
  readonly controllers: string;
}

/** Mount options that are not controllers: those of any mount, of SELinux and of a version 1 hierarchy. */
const NOT_CONTROLLER =
  /^(r[wo]|(rel|no|nodir)atime|nosuid|nodev|noexec|seclabel|xattr|noprefix|clone_children|cpuset_v2_mode|favordynmods|release_agent=.*)$/;

/** Parses the hierarchies from the text of /proc/self/mounts. */
export function parseHierarchies(mounts: string): Hierarchy[] {
  const hierarchies: Hierarchy[] = [];
  for (const line of mounts.split('\n')) {
    const [, mountPoint, type, options] = line.split(' ');
    if (!mountPoint || !options) continue;
    if (type === 'cgroup2') hierarchies.push({ version: 2, mountPoint, controllers: '' });
    if (type === 'cgroup') {
      const controllers = options.split(',').filter((option) => !NOT_CONTROLLER.test(option));
      hierarchies.push({ version: 1, mountPoint, controllers: controllers.join(',') });
    }
  }
  return hierarchies;
}

/** Returns the hierarchies of this machine. */
export function hierarchies(): Hierarchy[] {
  return parseHierarchies(readFileSync('/proc/self/mounts', 'utf8'));
}

/** Returns the paths of the cgroup with this name in every hierarchy. */
export function cgroupPaths(name: string): string[] {
  return hierarchies().map(({ mountPoint }) => join(mountPoint, name));
}

/** Creates a cgroup with this name in every hierarchy and returns their paths. */
export function createCgroup(name: string): string[] {
  return hierarchies().map((hierarchy) => {
    const path = join(hierarchy.mountPoint, name);
    if (hierarchy.version === 2) delegateControllers(hierarchy.mountPoint, name);
    mkdirSync(path, { recursive: true });
    if (hierarchy.controllers.split(',').includes('cpuset'))
      inheritCpuset(hierarchy.mountPoint, name);
    return path;
  });
}

/** Returns the PIDs of the processes in a cgroup and its descendants. */
export function cgroupProcesses(path: string): number[] {
  if (!existsSync(path)) return [];
  return cgroupTree(path).flatMap((folder) =>
    readIfExists(join(folder, 'cgroup.procs')).split('\n').filter(Boolean).map(Number),
  );
}

/**
 * Kills every process in these cgroups and returns their PIDs. A world's cgroups contain only processes that the world
 * started, and their children. The membership of each PID is checked again before it is signaled.
 */
export function killCgroups(paths: readonly string[]): number[] {
  const names = new Set(paths.map((path) => `/${basename(path)}`));
  const pids = [...new Set(paths.flatMap(cgroupProcesses))];
  for (const pid of pids) {
    const identity = identityOf(pid);
    const membership = readIfExists(`/proc/${pid}/cgroup`);
    if (identity && [...names].some((name) => membership.includes(name)))
      signal(identity, 'SIGKILL');
  }
  return pids;
}

/** Kills every process in these cgroups and removes the cgroups. */
export async function removeCgroups(paths: readonly string[], deadlineMs = 30_000): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const pids = killCgroups(paths);
    const remaining = paths.filter((path) => !removeTree(path));
    if (remaining.length === 0) return;
    if (Date.now() > deadline) {
      throw new Error(
        `cgroups not removed within ${deadlineMs} ms: ${remaining.join(', ')} (processes: ${pids.join(', ') || 'none'})`,
      );
    }
    await Bun.sleep(20);
  }
}

/** Removes a cgroup and its descendants, deepest first. Returns false if one is still busy. */
function removeTree(path: string): boolean {
  if (!existsSync(path)) return true;
  for (const folder of cgroupTree(path).toReversed()) {
    try {
      rmdirSync(folder);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EBUSY') return false;
      if (code !== 'ENOENT') throw error;
    }
  }
  return true;
}

/** Returns a cgroup and its descendants, parents first. */
function cgroupTree(path: string): string[] {
  return [path, ...childFolders(path).flatMap((child) => cgroupTree(join(path, child)))];
}

/** Returns the names of the child folders; none if a runtime or another sweep has just removed the folder. */
function childFolders(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENODEV') return [];
    throw error;
  }
}

/** Version 1: copies the parent's cpuset, because a new cpuset is empty and a process cannot enter an empty cpuset. */
function inheritCpuset(mountPoint: string, name: string): void {
  let parent = mountPoint;
  for (const step of name.split('/')) {
    const child = join(parent, step);
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      writeFileSync(join(child, file), readFileSync(join(parent, file), 'utf8'));
    }
    writeFileSync(join(child, 'cgroup.clone_children'), '1');
    parent = child;
  }
}

/** Version 2: enables the controllers of every parent for its children. */
function delegateControllers(mountPoint: string, name: string): void {
  let folder = mountPoint;
  for (const step of name.split('/')) {
    const available = readIfExists(join(folder, 'cgroup.controllers')).split(/\s+/).filter(Boolean);
    const enabled = new Set(readIfExists(join(folder, 'cgroup.subtree_control')).split(/\s+/));
    for (const controller of available.filter((c) => !enabled.has(c))) {
      // The machine's root stays unchanged, because systemd has enabled the controllers that pods need.
      if (folder !== mountPoint)
        writeFileSync(join(folder, 'cgroup.subtree_control'), `+${controller}`);
    }
    folder = join(folder, step);
    mkdirSync(folder, { recursive: true });
  }
}

function readIfExists(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENODEV' || code === 'ESRCH') return '';
    throw error;
  }
}
