import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import type { WorldPlan } from './spec.ts';

/**
 * File watchers that the programs of a world hold open, counted on version 1.36.3: the API server 6 and the
 * controller manager 5, kubelet 6 and containerd 2. The kernel counts them per user, over all worlds, and a kubelet
 * that gets none ends at its start.
 */
const PER_CONTROL_PLANE = 11;
/** Of these, the programs of one worker. */
export const WATCHERS_PER_WORKER = 8;

/** Watchers that a world needs. */
export function watchersNeeded(plan: WorldPlan): number {
  const clusters = [plan.management, ...plan.tenants];
  const workers = clusters.reduce((sum, cluster) => sum + cluster.workers.length, 0);
  return clusters.length * PER_CONTROL_PLANE + workers * WATCHERS_PER_WORKER;
}

/** Fails, with the way out, if this user has too few file watchers left for a world, or for more workers in it. */
export function assertWatchersLeft(needed: number): void {
  const limit = Number(readFileSync('/proc/sys/fs/inotify/max_user_instances', 'utf8'));
  const used = watchersInUse();
  if (used + needed <= limit) return;
  throw new Error(
    `this needs ${needed} file watchers, and ${used} of the ${limit} that this machine allows are in use: ` +
      'end another world (world/world status), or raise fs.inotify.max_user_instances',
  );
}

function watchersInUse(): number {
  const uid = process.getuid?.();
  let count = 0;
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      if (statSync(`/proc/${pid}`).uid !== uid) continue;
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        if (readlinkSync(`/proc/${pid}/fd/${fd}`) === 'anon_inode:inotify') count++;
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ESRCH' && code !== 'EACCES') throw error; // it ended, or is not ours to see
    }
  }
  return count;
}
