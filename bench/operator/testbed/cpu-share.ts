/**
 * Raises the CPU share of a world. All its programs are in one cgroup. With the default share, the cgroup would get no
 * more of a busy machine than any single process.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cgroupPaths } from '../../../world/machine/cgroup.ts';

/** Multiple of the default share. */
const FACTOR = 20;
/** Default CPU share of a cgroup, by the file of cgroup version 1 and version 2. */
const DEFAULTS = { 'cpu.shares': 1024, 'cpu.weight': 100 } as const;

/** Raises the CPU share. Without contention it has no effect. */
export function raiseCpuShare(id: string): void {
  for (const path of cgroupPaths(`snicket-${id}`)) {
    for (const [name, value] of Object.entries(DEFAULTS)) {
      const file = join(path, name);
      if (existsSync(file)) writeFileSync(file, String(value * FACTOR));
    }
  }
}
