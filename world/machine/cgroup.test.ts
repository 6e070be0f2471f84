import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cgroupProcesses, parseHierarchies, removeCgroups } from './cgroup.ts';

const others = `sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0
proc /proc proc rw,relatime 0 0
tmpfs /sys/fs/cgroup tmpfs ro,nosuid,nodev,noexec,mode=755 0 0
`;

describe('the cgroup trees', () => {
  test('are one where only version 2 is mounted', () => {
    const mounts = `${others}cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate,memory_recursiveprot 0 0\n`;

    expect(parseHierarchies(mounts)).toEqual([
      { version: 2, mountPoint: '/sys/fs/cgroup', controllers: '' },
    ]);
  });

  test('are one per controller, or group of them, in version 1', () => {
    const mounts = `${others}cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,nodev,noexec,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup /sys/fs/cgroup/pids cgroup ro,noatime,pids 0 0
`;

    expect(parseHierarchies(mounts)).toEqual([
      { version: 1, mountPoint: '/sys/fs/cgroup/cpu,cpuacct', controllers: 'cpu,cpuacct' },
      { version: 1, mountPoint: '/sys/fs/cgroup/memory', controllers: 'memory' },
      { version: 1, mountPoint: '/sys/fs/cgroup/pids', controllers: 'pids' },
    ]);
  });

  test('are both where systemd keeps version 2 beside version 1', () => {
    const mounts = `${others}cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,nosuid,nodev,noexec,relatime,xattr,release_agent=/lib/systemd/systemd-cgroups-agent,name=systemd 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0
`;

    expect(parseHierarchies(mounts)).toEqual([
      { version: 2, mountPoint: '/sys/fs/cgroup/unified', controllers: '' },
      { version: 1, mountPoint: '/sys/fs/cgroup/systemd', controllers: 'name=systemd' },
      { version: 1, mountPoint: '/sys/fs/cgroup/cpuset', controllers: 'cpuset' },
    ]);
  });

  test('have no controller named after an option of SELinux or of the tree itself', () => {
    const mounts = `cgroup /sys/fs/cgroup/cpuset cgroup rw,seclabel,nosuid,nodev,noexec,relatime,cpuset,noprefix,clone_children,cpuset_v2_mode 0 0\n`;

    expect(parseHierarchies(mounts)[0]!.controllers).toBe('cpuset');
  });

  test('are none in a text without any', () => {
    expect(parseHierarchies(others)).toEqual([]);
    expect(parseHierarchies('')).toEqual([]);
  });
});

// A plain folder has the structure of a cgroup. The end-to-end tests show that the kernel removes a real cgroup once
// its processes are killed.
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

  test('has the processes of all that are in it', () => {
    writeFileSync(join(root, 'cgroup.procs'), '');
    writeFileSync(join(root, 'a', 'cgroup.procs'), '11\n12\n');
    writeFileSync(join(root, 'a-1', 'kubepods', 'pod1', 'cgroup.procs'), '13\n');

    expect(new Set(cgroupProcesses(root))).toEqual(new Set([11, 12, 13]));
  });

  test('that is not there has no processes', () => {
    expect(cgroupProcesses(join(folder, 'none'))).toEqual([]);
  });

  test('is removed from the leaves up, and alone', async () => {
    const neighbor = join(folder, 'snicket-cd34');
    mkdirSync(neighbor);

    await removeCgroups([root, join(folder, 'none')]);

    expect(existsSync(root)).toBe(false);
    expect(existsSync(neighbor)).toBe(true);
  });

  test('may be removed by two at once, as by two sweeps', async () => {
    for (let i = 0; i < 500; i++) mkdirSync(join(root, 'a', `${i}`));
    const script = `
      const { removeCgroups } = await import('${import.meta.dir}/cgroup.ts');
      await new Promise((resolve) => process.stdin.once('end', resolve).resume());
      await removeCgroups(['${root}']);`;
    const sweeps = [1, 2].map(() =>
      Bun.spawn([process.execPath, '--eval', script], { stdin: 'pipe', stderr: 'pipe' }),
    );

    for (const sweep of sweeps) await sweep.stdin.end();
    const said = await Promise.all(sweeps.map((sweep) => sweep.stderr.text()));

    expect(said).toEqual(['', '']);
    expect(existsSync(root)).toBe(false);
  });
});
