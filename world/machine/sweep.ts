import { existsSync, readdirSync, renameSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { cgroupPaths, killCgroups, removeCgroups } from './cgroup.ts';
import { bootId, signal } from './identity.ts';
import {
  Ledger,
  standing,
  unnamedFolder,
  unnamedOwner,
  worldIds,
  worldsFolder,
  type Entry,
} from './ledger.ts';

/** Ends and removes everything in a world's ledger, and its folder. Can be called again, after a failure or without need. */
export async function removeWorld(ledger: Ledger): Promise<void> {
  ledger.close();
  const entries = ledger.entries();
  // After a reboot the PIDs in the ledger are other people's. Cgroups do not outlive a boot.
  if (ofThisBoot(entries)) {
    for (const entry of entries) if (entry.kind === 'process') signal(entry.process, 'SIGKILL');
  }
  await removeCgroups(cgroupsOf(ledger));
  removeFolder(ledger);
  removeIfEmpty(worldsFolder);
}

/** Ends the processes of a world that is still being started, so that whoever starts it fails soon. */
export function abandonWorld(ledger: Ledger): void {
  ledger.close();
  killCgroups(cgroupsOf(ledger));
}

function ofThisBoot(entries: readonly Entry[]): boolean {
  return entries.some((entry) => entry.kind === 'owner' && entry.bootId === bootId());
}

/** Those that the ledger lists, and those that have the world's name: the ledger may be damaged. */
function cgroupsOf(ledger: Ledger): string[] {
  const listed = ledger.entries().flatMap((entry) => (entry.kind === 'cgroup' ? [entry.path] : []));
  return [...new Set([...listed, ...cgroupPaths(ledger.cgroup)])];
}

/** A dead world that was found; with an error if it could not be removed. */
export interface Swept {
  readonly id: string;
  readonly error?: Error;
}

/** Removes the worlds whose owner died without doing so. One that cannot be removed does not keep others from it. */
export async function removeDeadWorlds(): Promise<Swept[]> {
  removeUnnamed();
  const swept: Swept[] = [];
  for (const id of worldIds()) {
    const ledger = Ledger.find(id);
    if (!ledger) continue;
    try {
      if (standing(ledger.entries()) !== 'dead') continue;
      await removeWorld(ledger);
      swept.push({ id });
    } catch (error) {
      swept.push({ id, error: error as Error });
    }
  }
  return swept;
}

/** What to tell of a dead world that was found. */
export function sweptText({ id, error }: Swept): string {
  if (!error) return `removed world ${id}, whose owner is gone`;
  return `world ${id}, whose owner is gone, could not be removed: ${error.message}; end what is left of it and delete ${join(worldsFolder, id)}`;
}

/** The folder loses its name first: one half removed is nobody's world, and the next sweep goes on with it. */
function removeFolder(ledger: Ledger): void {
  const unnamed = unnamedFolder(ledger.id);
  try {
    renameSync(ledger.folder, unnamed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return; // somebody else was faster
    throw error;
  }
  rmSync(unnamed, { recursive: true, force: true });
}

/** Folders of processes that died while they made or removed a world: nothing runs in those. */
function removeUnnamed(): void {
  if (!existsSync(worldsFolder)) return;
  for (const name of readdirSync(worldsFolder)) {
    const pid = unnamedOwner(name);
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    rmSync(join(worldsFolder, name), { recursive: true, force: true });
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // Not empty, gone, or a mount point of its own: all the same here.
    if (!code || !['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EBUSY'].includes(code)) throw error;
  }
}
