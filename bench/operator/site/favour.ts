/**
 * A share of the processors for a world. All of a world's programs are in one cgroup, and without this it would have no
 * more of a busy machine than any single process.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cgroupPaths } from '../../../world/machine/cgroup.ts';

/** Times that of a process. */
const FACTOR = 20;
/** What a cgroup has by default, by the file that says so: version 1, version 2. */
const DEFAULTS = { 'cpu.shares': 1024, 'cpu.weight': 100 } as const;

/** Gives it; on a quiet machine that changes nothing. */
export function favourWorld(id: string): void {
  for (const path of cgroupPaths(`snicket-${id}`)) {
    for (const [name, value] of Object.entries(DEFAULTS)) {
      const file = join(path, name);
      if (existsSync(file)) writeFileSync(file, String(value * FACTOR));
    }
  }
}
