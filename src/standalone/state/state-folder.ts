/**
 * Where a process keeps what has to outlive it: keys of tenants among it, so nobody else may look.
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { realPathOf } from '../../files/real-path.ts';
import { systemCode } from '../../files/system-error.ts';
import { shellWord } from '../../text/shell-word.ts';
import { STATUS_FILE } from './status-file.ts';

/** With the journals of the one, and what the others are written to first. */
const OWN_FILES = /^(?:master\.key|objects\.db|status\.yaml)/;

/** What SQLite opens, and without rights names no reason. */
const DATABASE_FILES = /^objects\.db(?:-wal|-shm|-journal)?$/;

/** A state folder that must not be used. */
export class StateRefused extends Error {
  override readonly name = 'StateRefused';
  readonly code = 'StateRefused';
}

/** The folder to use if none is given: systemd's, or the one that the user's programs have. */
export function defaultStateFolder(
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const { STATE_DIRECTORY: systemd, XDG_STATE_HOME: xdg } = environment;
  // Of several, systemd separates them by colons.
  if (systemd !== undefined && systemd !== '') return systemd.split(':')[0] ?? systemd;
  const home = xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.local', 'state');
  return join(home, 'snicket');
}

/** Makes the folder if it is not there. @throws StateRefused if others can read or write it, with what to run */
export function prepareStateFolder(state: string, folder: string): void {
  // By both: links in the folder are followed, and one may lead to the folder.
  if (
    isReadWith(resolve(folder), resolve(state)) ||
    isReadWith(realPathOf(folder), realPathOf(state))
  ) {
    throw new StateRefused(
      `the state ${state} is within ${folder}, and would be read as part of it; give another folder with --state`,
    );
  }
  try {
    mkdirSync(state, { recursive: true, mode: 0o700 });
    refuseForeign(state, '700');
    refuseClosed(state, '700');
    for (const name of readdirSync(state)) {
      const path = join(state, name);
      // Somebody's log may be there too: nobody else gets into the folder.
      if (OWN_FILES.test(name)) refuseForeign(path, '600');
      if (DATABASE_FILES.test(name)) refuseClosed(path, '600');
    }
  } catch (error) {
    if (error instanceof StateRefused) throw error;
    const said = error instanceof Error ? error.message : String(error);
    throw new StateRefused(
      `the state ${state} cannot be used (${said}); give another folder with --state`,
      { cause: error },
    );
  }
}

/** Whether a process has had this state: what nobody else brings along is there. */
export function wasInUse(state: string): boolean {
  return existsSync(join(state, STATUS_FILE));
}

/** What is hidden is not read; a way that leads out of the folder begins with a dot too. */
function isReadWith(folder: string, state: string): boolean {
  return !relative(folder, state)
    .split('/')
    .some((part) => part.startsWith('.'));
}

/** Of the owner alone, from the moment it is there. */
export function closeToOthers(file: string): void {
  chmodSync(file, 0o600);
}

/** A link is as good as what it leads to, and as who may change it. */
function refuseForeign(path: string, mode: '600' | '700'): void {
  const stats = statSync(path);
  const own = process.getuid?.();
  for (const { uid } of [lstatSync(path), stats]) {
    if (own === undefined || uid === own) continue;
    throw new StateRefused(
      `${path} belongs to the user ${uid}, and this process is of ${own}; run: chown ${own} ${shellWord(path)}`,
    );
  }
  if ((stats.mode & 0o077) === 0) return;
  const rights = (stats.mode & 0o777).toString(8);
  throw new StateRefused(
    `${path} has the mode ${rights}: others could read the keys of tenants; run: chmod ${mode} ${shellWord(path)}`,
  );
}

/** What this process may not read and write, or what is neither a folder nor a file. */
function refuseClosed(path: string, mode: '600' | '700'): void {
  const stats = statSync(path);
  if (mode === '600' && !stats.isFile()) {
    throw new StateRefused(`${path} is not a regular file; move it away`);
  }
  try {
    const { R_OK, W_OK, X_OK } = constants;
    accessSync(path, mode === '700' ? R_OK | W_OK | X_OK : R_OK | W_OK);
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error;
    const rights = (stats.mode & 0o777).toString(8);
    throw new StateRefused(
      `${path} has the mode ${rights}: this process may not read and write it; run: chmod ${mode} ${shellWord(path)}`,
      { cause: error },
    );
  }
}
