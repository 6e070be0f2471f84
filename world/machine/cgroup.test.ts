import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cgroupProcesses, parseHierarchies, removeCgroups } from './cgroup.ts';

const OTHER_MOUNTS = `sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0
proc /proc proc rw,relatime 0 0
tmpfs /sys/fs/cgroup tmpfs ro,nosuid,nodev,noexec,mode=755 0 0
`;

describe('parseHierarchies', () => {
  test('returns one hierarchy if only version 2 is mounted', () => {
    const mounts = `${OTHER_MOUNTS}cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate,memory_recursiveprot 0 0\n`;

    expect(parseHierarchies(mounts)).toEqual([
      { version: 2, mountPoint: '/sys/fs/cgroup', controllers: '' },
    ]);
  });

  test('returns one hierarchy per mount of version 1', () => {
    const mounts = `${OTHER_MOUNTS}cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,nodev,noexec,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup /sys/fs/cgroup/pids cgroup ro,noatime,pids 0 0
`;

    expect(parseHierarchies(mounts)).toEqual([
      { version: 1, mountPoint: '/sys/fs/cgroup/cpu,cpuacct', controllers: 'cpu,cpuacct' },
      { version: 1, mountPoint: '/sys/fs/cgroup/memory', controllers: 'memory' },
      { version: 1, mountPoint: '/sys/fs/cgroup/pids', controllers: 'pids' },
    ]);
  });

  test('returns the hierarchies of both versions if both are mounted', () => {
    const mounts = `${OTHER_MOUNTS}cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,nosuid,nodev,noexec,relatime,xattr,release_agent=/lib/systemd/systemd-cgroups-agent,name=systemd 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0
`;

    expect(parseHierarchies(mounts)).toEqual([
      { version: 2, mountPoint: '/sys/fs/cgroup/unified', controllers: '' },
      { version: 1, mountPoint: '/sys/fs/cgroup/systemd', controllers: 'name=systemd' },
      { version: 1, mountPoint: '/sys/fs/cgroup/cpuset', controllers: 'cpuset' },
    ]);
  });

  test('ignores mount options that are not controllers', () => {
    const mounts = `cgroup /sys/fs/cgroup/cpuset cgroup rw,seclabel,nosuid,nodev,noexec,relatime,cpuset,noprefix,clone_children,cpuset_v2_mode 0 0\n`;

    expect(parseHierarchies(mounts)[0]!.controllers).toBe('cpuset');
  });

  test('returns none if no hierarchy is mounted', () => {
    expect(parseHierarchies(OTHER_MOUNTS)).toEqual([]);
    expect(parseHierarchies('')).toEqual([]);
  });
});

// Simulates cgroups with plain folders. The end-to-end tests remove real cgroups.
describe('a tree of cgroups', () => {
  let folder: string;
  let root: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'snicket-cgroup-'));
    root = join(folder, 'snicket-ab12');
    mkdirSync(join(root, 'a-1', 'kubepods', 'pod1'), { recursive: true });
    mkdirSync(join(root, 'a'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  test('contains the processes of all its cgroups', () => {
    writeFileSync(join(root, 'cgroup.procs'), '');
    writeFileSync(join(root, 'a', 'cgroup.procs'), '11\n12\n');
    writeFileSync(join(root, 'a-1', 'kubepods', 'pod1', 'cgroup.procs'), '13\n');

    expect(new Set(cgroupProcesses(root))).toEqual(new Set([11, 12, 13]));
  });

  test('has no processes if it does not exist', () => {
    expect(cgroupProcesses(join(folder, 'none'))).toEqual([]);
  });

  test('is removed without its neighbors', async () => {
    const neighbor = join(folder, 'snicket-cd34');
    mkdirSync(neighbor);

    await removeCgroups([root, join(folder, 'none')]);

    expect(existsSync(root)).toBe(false);
    expect(existsSync(neighbor)).toBe(true);
  });

  test('can be removed by two processes at the same time', async () => {
    for (let i = 0; i < 500; i++) mkdirSync(join(root, 'a', `${i}`));
    const script = `
      const { removeCgroups } = await import('${import.meta.dir}/cgroup.ts');
      await new Promise((resolve) => process.stdin.once('end', resolve).resume());
      await removeCgroups(['${root}']);`;
    const sweeps = [1, 2].map(() =>
      Bun.spawn([process.execPath, '--eval', script], { stdin: 'pipe', stderr: 'pipe' }),
    );

    for (const sweep of sweeps) await sweep.stdin.end();
    const errors = await Promise.all(sweeps.map((sweep) => sweep.stderr.text()));

    expect(errors).toEqual(['', '']);
    expect(existsSync(root)).toBe(false);
  });
});
