import { existsSync, readdirSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeCgroups } from './cgroup.ts';
import { bootId, signal } from './identity.ts';
import { Ledger, standing, worldIds, worldsFolder } from './ledger.ts';

/** Ends and removes everything in a world's ledger, and its folder. Can be called again, after a failure or without need. */
export async function removeWorld(ledger: Ledger): Promise<void> {
  if (!existsSync(ledger.folder)) return;
  const entries = ledger.entries();
  const owner = entries.find((entry) => entry.kind === 'owner');
  // After a reboot nothing but the folder can be left, and the PIDs in it are other people's.
  if (owner?.bootId === bootId()) {
    for (const entry of entries) if (entry.kind === 'process') signal(entry.process, 'SIGKILL');
    await removeCgroups(entries.flatMap((entry) => (entry.kind === 'cgroup' ? [entry.path] : [])));
  }
  rmSync(ledger.folder, { recursive: true, force: true });
  removeIfEmpty(worldsFolder);
}

/** Removes the worlds whose owner died without doing so, and returns their ids. */
export async function removeDeadWorlds(): Promise<string[]> {
  removeUnnamed();
  const removed: string[] = [];
  for (const id of worldIds()) {
    const ledger = Ledger.find(id);
    if (!ledger) {
      // A removal was cut short after the ledger went, or another sweep is at it: processes end before files go.
      rmSync(join(worldsFolder, id), { recursive: true, force: true });
      continue;
    }
    if (standing(ledger.entries()) !== 'dead') continue;
    await removeWorld(ledger);
    removed.push(id);
  }
  return removed;
}

/** Folders of worlds that died before they had a name: `.ID-PID`, with nothing started yet. */
function removeUnnamed(): void {
  if (!existsSync(worldsFolder)) return;
  for (const name of readdirSync(worldsFolder)) {
    const pid = /^\.\w+-(\d+)$/.exec(name)?.[1];
    if (pid && !existsSync(`/proc/${pid}`)) {
      rmSync(join(worldsFolder, name), { recursive: true, force: true });
    }
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOTEMPTY' && code !== 'ENOENT' && code !== 'EEXIST') throw error;
  }
}
