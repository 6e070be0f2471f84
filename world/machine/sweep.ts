import { existsSync, readdirSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { killCgroups, removeCgroups } from './cgroup.ts';
import { bootId, signal } from './identity.ts';
import { Ledger, standing, worldIds, worldsFolder, type Entry } from './ledger.ts';

/** Ends and removes everything in a world's ledger, and its folder. Can be called again, after a failure or without need. */
export async function removeWorld(ledger: Ledger): Promise<void> {
  ledger.close();
  const entries = ledger.entries();
  if (ofThisBoot(entries)) {
    for (const entry of entries) if (entry.kind === 'process') signal(entry.process, 'SIGKILL');
    await removeCgroups(cgroupsOf(entries));
  }
  rmSync(ledger.folder, { recursive: true, force: true });
  removeIfEmpty(worldsFolder);
}

/** Ends the processes of a world that is still being started, so that whoever starts it fails soon. */
export function abandonWorld(ledger: Ledger): void {
  ledger.close();
  killCgroups(cgroupsOf(ledger.entries()));
}

/** After a reboot nothing but the folder can be left, and the PIDs in the ledger are other people's. */
function ofThisBoot(entries: readonly Entry[]): boolean {
  return entries.some((entry) => entry.kind === 'owner' && entry.bootId === bootId());
}

function cgroupsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'cgroup' ? [entry.path] : []));
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
