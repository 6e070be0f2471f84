/**
 * Inotify instances. By default, the kernel allows 128 for each user, and all worlds share them. If none is available,
 * a kubelet or a provider's manager exits at its start with `too many open files`.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../parts/cache.ts';
import { withLock } from '../parts/lock.ts';
import { Ledger, worldState, worldIds } from './ledger.ts';

const LIMIT_PATH = '/proc/sys/fs/inotify/max_user_instances';

/** Inotify instances in use, by the world whose programs hold them. Those of other programs have the key ''. */
export type InotifyUse = ReadonlyMap<string, number>;

/**
 * Returns the inotify instances that this user may still open. Each living world counts with its reservation or its
 * use, whichever is larger.
 */
export function availableInotifyInstances(): number {
  return availableInstances(inotifyLimit(), inotifyInstancesInUse(), reservations());
}

/** Returns `limit` minus the reservation or the use of each world, whichever is larger. */
export function availableInstances(
  limit: number,
  inUse: InotifyUse,
  reserved: ReadonlyMap<string, number>,
): number {
  let taken = 0;
  for (const world of new Set([...inUse.keys(), ...reserved.keys()])) {
    taken += Math.max(inUse.get(world) ?? 0, reserved.get(world) ?? 0);
  }
  return limit - taken;
}

/**
 * Reserves inotify instances for a world.
 *
 * @throws if too few are available, with a fix
 */
export async function reserveInotify(ledger: Ledger, instances: number): Promise<void> {
  // Takes a lock, so that two worlds that start at the same time do not reserve the same instances.
  const lock = join(cacheFolder(), '.inotify.lock');
  await withLock(
    lock,
    () => {},
    async () => {
      const available = availableInotifyInstances();
      if (instances > available) {
        throw new Error(
          `not enough inotify instances: world ${ledger.id} needs ${instances}, and ${available} of ${inotifyLimit()} are available. ` +
            'Remove another world (world/world status lists them), or raise fs.inotify.max_user_instances.',
        );
      }
      ledger.append({ kind: 'inotify', instances });
    },
  );
}

function inotifyLimit(): number {
  return Number(readFileSync(LIMIT_PATH, 'utf8'));
}

/** Returns the reservations of living worlds. */
function reservations(): ReadonlyMap<string, number> {
  const reserved = new Map<string, number>();
  for (const id of worldIds()) {
    const entries = Ledger.find(id)?.entries() ?? [];
    if (worldState(entries) === 'dead') continue;
    const instances = entries.map((entry) => (entry.kind === 'inotify' ? entry.instances : 0));
    reserved.set(
      id,
      instances.reduce((sum, count) => sum + count, 0),
    );
  }
  return reserved;
}

function inotifyInstancesInUse(): InotifyUse {
  const uid = process.getuid?.();
  const inUse = new Map<string, number>();
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      if (statSync(`/proc/${pid}`).uid !== uid) continue;
      const count = readdirSync(`/proc/${pid}/fd`).filter(
        (fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === 'anon_inode:inotify',
      ).length;
      if (count === 0) continue;
      const [, world = ''] =
        /\/snicket-(\w+)/.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8')) ?? [];
      inUse.set(world, (inUse.get(world) ?? 0) + count);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // The process ended, closed the file, or belongs to another user.
      if (code !== 'ENOENT' && code !== 'ESRCH' && code !== 'EACCES') throw error;
    }
  }
  return inUse;
}
