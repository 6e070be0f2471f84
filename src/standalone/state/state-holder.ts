/**
 * Whether a `snicket run` has a state, by the lock that ends with its process. Nothing is written, and nobody disturbed.
 */
import { Database, SQLiteError } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE_FILE, isBusy } from './object-database.ts';

/** `unknown`: the file with the lock may not be opened. */
export type StateHolder = 'running' | 'none' | 'unknown';

/** Looks whether a process has the state. */
export function stateHolder(state: string): StateHolder {
  const path = join(state, DATABASE_FILE);
  if (!existsSync(path)) return 'none';
  try {
    using database = new Database(path, { readonly: true });
    // So that there is no file for shared memory. Nobody who only reads gets this lock, but first comes the one that a
    // process which has the state refuses.
    database.run('PRAGMA locking_mode = EXCLUSIVE');
    database.query('SELECT name FROM sqlite_master').get();
    return 'none';
  } catch (error) {
    if (!(error instanceof SQLiteError)) throw error;
    if (isBusy(error)) return 'running';
    return error.code === 'SQLITE_CANTOPEN' ? 'unknown' : 'none';
  }
}
