/** Checks whether a `snicket run` uses a state, by its lock. Writes nothing and does not disturb the process. */
import { Database, SQLiteError } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE_FILE, isBusy } from './object-database.ts';

/** `unknown` means that the file with the lock cannot be opened. */
export type StateOwner = 'running' | 'none' | 'unknown';

/** Returns whether a process uses the state. */
export function stateOwner(state: string): StateOwner {
  const path = join(state, DATABASE_FILE);
  if (!existsSync(path)) return 'none';
  try {
    using database = new Database(path, { readonly: true });
    // Avoids a shared-memory file. A read-only connection cannot get the exclusive lock itself, but it first requests a
    // lock that a running process does not grant.
    database.run('PRAGMA locking_mode = EXCLUSIVE');
    database.query('SELECT name FROM sqlite_master').get();
    return 'none';
  } catch (error) {
    if (!(error instanceof SQLiteError)) throw error;
    if (isBusy(error)) return 'running';
    return error.code === 'SQLITE_CANTOPEN' ? 'unknown' : 'none';
  }
}
