import { existsSync, readdirSync, renameSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { cgroupPaths, killCgroups, removeCgroups } from './cgroup.ts';
import { bootId, signal } from './identity.ts';
import {
  Ledger,
  worldState,
  temporaryFolder,
  temporaryFolderOwner,
  worldIds,
  worldsFolder,
  type Entry,
} from './ledger.ts';

/**
 * Removes all resources in a world's ledger, and the world's folder. It is idempotent, so it can be repeated after a
 * failure.
 */
export async function removeWorld(ledger: Ledger): Promise<void> {
  ledger.close();
  const entries = ledger.entries();
  // After a reboot, the PIDs in the ledger belong to other processes. Cgroups do not survive a reboot.
  if (isOfThisBoot(entries)) {
    for (const entry of entries) if (entry.kind === 'process') signal(entry.process, 'SIGKILL');
  }
  await removeCgroups(cgroupsOf(ledger));
  removeFolder(ledger);
  removeIfEmpty(worldsFolder);
}

/** Kills the processes of a world that is starting, so that the start fails at once. */
export function abandonWorld(ledger: Ledger): void {
  ledger.close();
  killCgroups(cgroupsOf(ledger));
}

function isOfThisBoot(entries: readonly Entry[]): boolean {
  return entries.some((entry) => entry.kind === 'owner' && entry.bootId === bootId());
}

/** Returns the cgroups in the ledger and those with the world's name, because the ledger may be damaged. */
function cgroupsOf(ledger: Ledger): string[] {
  const listed = ledger.entries().flatMap((entry) => (entry.kind === 'cgroup' ? [entry.path] : []));
  return [...new Set([...listed, ...cgroupPaths(ledger.cgroup)])];
}

/** A dead world that a sweep found, with an error if it could not be removed. */
export interface SweepResult {
  readonly id: string;
  readonly error?: Error;
}

/** Removes the worlds whose owner died without removing them. A failure does not stop the removal of the others. */
export async function removeDeadWorlds(): Promise<SweepResult[]> {
  removeTemporaryFolders();
  const results: SweepResult[] = [];
  for (const id of worldIds()) {
    const ledger = Ledger.find(id);
    if (!ledger) continue;
    try {
      if (worldState(ledger.entries()) !== 'dead') continue;
      await removeWorld(ledger);
      results.push({ id });
    } catch (error) {
      results.push({ id, error: error as Error });
    }
  }
  return results;
}

/** Returns a message about a dead world that a sweep found. */
export function sweepText({ id, error }: SweepResult): string {
  if (!error) return `removed world ${id}, whose owner is gone`;
  return `world ${id}, whose owner is gone, could not be removed: ${error.message}; end its processes and delete ${join(worldsFolder, id)}`;
}

/**
 * Renames the folder before it is deleted, so that a partly deleted folder is not listed as a world. The next sweep
 * deletes the rest.
 */
function removeFolder(ledger: Ledger): void {
  const temporary = temporaryFolder(ledger.id);
  try {
    renameSync(ledger.folder, temporary);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return; // another process was faster
    throw error;
  }
  rmSync(temporary, { recursive: true, force: true });
}

/** Removes folders of processes that died while they created or removed a world. No process uses them. */
function removeTemporaryFolders(): void {
  if (!existsSync(worldsFolder)) return;
  for (const name of readdirSync(worldsFolder)) {
    const pid = temporaryFolderOwner(name);
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    rmSync(join(worldsFolder, name), { recursive: true, force: true });
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // The folder is not empty, is gone, or is a mount point. It stays.
    if (!code || !['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EBUSY'].includes(code)) throw error;
  }
}
