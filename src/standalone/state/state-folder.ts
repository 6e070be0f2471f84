/** The state folder: persistent data of the process. It contains keys of tenants, so only its owner may access it. */
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

/** The files of Snicket, with the journals of the database and temporary files of atomic writes. */
const OWN_FILES = /^(?:master\.key|objects\.db|status\.yaml)/;

/** The files that SQLite opens. Without permissions SQLite does not report a reason. */
const DATABASE_FILES = /^objects\.db(?:-wal|-shm|-journal)?$/;

/** The state folder must not be used. */
export class StateRefused extends Error {
  override readonly name = 'StateRefused';
  readonly code = 'StateRefused';
}

/** Returns the default state folder: that of systemd, or that of XDG for user programs. */
export function defaultStateFolder(
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const { STATE_DIRECTORY: systemd, XDG_STATE_HOME: xdg } = environment;
  // systemd separates several directories by colons.
  if (systemd !== undefined && systemd !== '') return systemd.split(':')[0] ?? systemd;
  const home = xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.local', 'state');
  return join(home, 'snicket');
}

/** Creates the folder if needed. @throws StateRefused, with the command to run, if other users can read or write it */
export function prepareStateFolder(state: string, folder: string): void {
  // Compares both the given and the resolved paths, because links in the folder are followed, and the folder may itself
  // be a link.
  if (
    isReadAsPartOf(resolve(folder), resolve(state)) ||
    isReadAsPartOf(realPathOf(folder), realPathOf(state))
  ) {
    throw new StateRefused(
      `the state ${state} is inside the folder ${folder} and would be read as part of it; pass another directory with --state`,
    );
  }
  try {
    mkdirSync(state, { recursive: true, mode: 0o700 });
    rejectForeign(state, '700');
    rejectInaccessible(state, '700');
    for (const name of readdirSync(state)) {
      const path = join(state, name);
      // Other files, such as an access log, may be there too. The mode of the folder protects them.
      if (OWN_FILES.test(name)) rejectForeign(path, '600');
      if (DATABASE_FILES.test(name)) rejectInaccessible(path, '600');
    }
  } catch (error) {
    if (error instanceof StateRefused) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StateRefused(
      `the state ${state} cannot be used (${reason}); pass another directory with --state`,
      { cause: error },
    );
  }
}

/** Whether a process has used this state before. Only Snicket creates the status file. */
export function wasUsedBefore(state: string): boolean {
  return existsSync(join(state, STATUS_FILE));
}

/**
 * Whether reading the folder would include the state. Hidden folders are skipped. A path outside of the folder begins
 * with `..`, so it counts as hidden.
 */
function isReadAsPartOf(folder: string, state: string): boolean {
  return !relative(folder, state)
    .split('/')
    .some((part) => part.startsWith('.'));
}

/** Makes the file accessible for its owner only. */
export function restrictToOwner(file: string): void {
  chmodSync(file, 0o600);
}

/** Refuses a path that other users own or can access. For a link, checks both the link and its target. */
function rejectForeign(path: string, mode: '600' | '700'): void {
  const stats = statSync(path);
  const ownUid = process.getuid?.();
  for (const { uid } of [lstatSync(path), stats]) {
    if (ownUid === undefined || uid === ownUid) continue;
    throw new StateRefused(
      `${path} belongs to user ${uid}, but this process runs as user ${ownUid}; run: chown ${ownUid} ${shellWord(path)}`,
    );
  }
  if ((stats.mode & 0o077) === 0) return;
  const modeText = (stats.mode & 0o777).toString(8);
  throw new StateRefused(
    `${path} has the mode ${modeText}: other users could read the keys of tenants; run: chmod ${mode} ${shellWord(path)}`,
  );
}

/** Refuses a path that this process cannot read and write, or a special file. */
function rejectInaccessible(path: string, mode: '600' | '700'): void {
  const stats = statSync(path);
  if (mode === '600' && !stats.isFile()) {
    throw new StateRefused(`${path} is not a regular file; move it away`);
  }
  try {
    const { R_OK, W_OK, X_OK } = constants;
    accessSync(path, mode === '700' ? R_OK | W_OK | X_OK : R_OK | W_OK);
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error;
    const modeText = (stats.mode & 0o777).toString(8);
    throw new StateRefused(
      `${path} has the mode ${modeText}: this process cannot read and write it; run: chmod ${mode} ${shellWord(path)}`,
      { cause: error },
    );
  }
}
