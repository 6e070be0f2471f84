/**
 * Persists objects in an SQLite file. The file stays consistent if the machine stops at any time. One process at a time
 * can use it, by a lock that is released when the process ends.
 */
import { Database, SQLiteError } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiObject, ObjectPersistence } from '../../kube/store/object-store.ts';
import type { ObjectKey } from '../../kube/object.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import { systemCode } from '../../files/system-error.ts';
import { OPERATOR_NAMESPACE } from '../folder/rules.ts';
import { restrictToOwner, StateRefused } from './state-folder.ts';

/** Name of the file in the state folder. */
export const DATABASE_FILE = 'objects.db';

/** {@link stateHolder} takes the lock for a moment. Waits this long for it. */
const BUSY_MS = 500;

/** The resources that are persisted. Others are created again at each start. */
const PERSISTED: readonly Resource[] = [
  RESOURCES.edge,
  RESOURCES.exposure,
  RESOURCES.tenantRoute,
  RESOURCES.secret,
  RESOURCES.service,
  RESOURCES.endpointSlice,
];

/** Version of the table format, stored in the file. */
const FORMAT = 1;

/** A persisted object. */
interface PersistedObject {
  readonly resource: Resource;
  readonly object: ApiObject;
}

/** Persists objects across restarts. */
export class ObjectDatabase implements ObjectPersistence {
  /** Whether the file was missing or empty. */
  readonly isNew: boolean;
  readonly #database: Database;
  /** Path of the file. */
  readonly #path: string;
  /** Device and inode of the file when it was opened. */
  readonly #file: string;

  /** @throws StateRefused if another process has the lock, or if the file is not a database of Snicket. */
  constructor(state: string) {
    this.#path = join(state, DATABASE_FILE);
    try {
      const { database, isNew } = opened(this.#path);
      this.#database = database;
      this.isNew = isNew;
      this.#file = fileIdentity(this.#path);
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error;
      if (!isBusy(error)) throw unusable(this.#path, error);
      throw new StateRefused(
        `the state ${state} is in use by another snicket process; stop it, or pass another directory with --state`,
        { cause: error },
      );
    }
  }

  /** The folder of the objects, as recorded last. */
  get folder(): string | undefined {
    return this.#about('folder');
  }

  /** @throws StateRefused if it cannot be written. */
  set folder(path: string) {
    this.#setAbout('folder', path);
  }

  /** Identifies this state from its first start on. @throws StateRefused if it is new and cannot be written */
  get id(): string {
    const found = this.#about('id');
    if (found !== undefined) return found;
    const id = crypto.randomUUID();
    this.#setAbout('id', id);
    return id;
  }

  #about(name: 'folder' | 'id'): string | undefined {
    return this.#readable(() => {
      const query = 'SELECT value FROM about WHERE name = ?';
      return this.#database.query<{ value: string }, [string]>(query).get(name)?.value;
    });
  }

  /** @throws StateRefused if it cannot be written. */
  #setAbout(name: 'folder' | 'id', value: string): void {
    try {
      this.#database.run('INSERT OR REPLACE INTO about VALUES (?, ?)', [name, value]);
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error;
      throw unusable(this.#path, error);
    }
  }

  /** Returns what is wrong if the path no longer refers to the file that this process has open and locked. */
  lossReason(): string | undefined {
    const identity = fileIdentity(this.#path);
    if (identity === this.#file) return undefined;
    return `${this.#path} was removed or replaced (${identity}) while this process uses it: all applied objects are lost when the process ends, and another snicket process may use this state; restart this process`;
  }

  /** Returns all persisted objects. @throws StateRefused */
  objects(): readonly PersistedObject[] {
    return this.#readable(() => {
      const rows = this.#database
        .query<{ plural: string; object: string }, []>('SELECT plural, object FROM objects')
        .all();
      return rows.flatMap(({ plural, object }): readonly PersistedObject[] => {
        const resource = PERSISTED.find((persisted) => persisted.plural === plural);
        return resource === undefined ? [] : [{ resource, object: objectOf(object) }];
      });
    });
  }

  /** Writes the object before the store applies the change. @throws SQLiteError */
  put(resource: Resource, object: ApiObject, before: ApiObject | undefined): void {
    const { namespace = '', name } = object.metadata;
    if (!isPersisted(resource, namespace)) return;
    this.#sync(resource, before === undefined || !isStatusUpdate(before, object));
    this.#database.run('INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?)', [
      ...[resource.plural, namespace, name, JSON.stringify(object)],
    ]);
  }

  remove(resource: Resource, { namespace = '', name }: ObjectKey): void {
    if (!isPersisted(resource, namespace)) return;
    this.#sync(resource, true);
    this.#database.run('DELETE FROM objects WHERE plural = ? AND namespace = ? AND name = ?', [
      ...[resource.plural, namespace, name],
    ]);
  }

  close(): void {
    this.#database.close();
  }

  /** Reports damage as StateRefused. SQLite detects damage only in the pages that it reads. @throws StateRefused */
  #readable<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      this.#database.close();
      if (!(error instanceof SQLiteError || error instanceof SyntaxError)) throw error;
      throw unusable(this.#path, error);
    }
  }

  /** Waits for the disk if the data cannot be recreated: a spec, a finalizer, a key. */
  #sync(resource: Resource, isIrreplaceable: boolean): void {
    const derived: readonly string[] = [RESOURCES.service.plural, RESOURCES.endpointSlice.plural];
    const mode = isIrreplaceable && !derived.includes(resource.plural) ? 'FULL' : 'NORMAL';
    this.#database.run(`PRAGMA synchronous = ${mode}`);
  }
}

/** @throws SyntaxError if the text is not an object. */
function objectOf(text: string): ApiObject {
  const object = JSON.parse(text) as Partial<ApiObject> | null;
  if (typeof object?.metadata?.name === 'string') return object as ApiObject;
  throw new SyntaxError('a stored value is not an object');
}

/** Returns the identity of the file at a path, or the error code if there is none. */
function fileIdentity(path: string): string {
  try {
    const { dev, ino } = statSync(path);
    return `inode ${ino} of device ${dev}`;
  } catch (error) {
    return systemCode(error) ?? String(error);
  }
}

/**
 * Returns the error with a hint. If the disk is full or failing, the file itself may be fine and must not be moved
 * away.
 */
function unusable(path: string, cause: Error): StateRefused {
  const isDiskProblem =
    cause instanceof SQLiteError && /^SQLITE_(FULL|IOERR|READONLY|PERM)/.test(cause.code ?? '');
  const advice = isDiskProblem
    ? 'repair the disk, and start again'
    : 'move it away to start with an empty state, in which no tenant is known that must be cleaned up';
  return new StateRefused(`${path} cannot be used (${cause.message}); ${advice}`, { cause });
}

/** Whether to persist the object. The gateway's keys have their own file. */
function isPersisted({ plural }: Resource, namespace: string): boolean {
  return namespace !== OPERATOR_NAMESPACE && PERSISTED.some((kind) => kind.plural === plural);
}

/** Whether only the status has changed. */
function isStatusUpdate(before: ApiObject, after: ApiObject): boolean {
  const content = ({ metadata, status: _status, ...rest }: ApiObject) => {
    const { resourceVersion: _version, managedFields: _owners, ...otherMetadata } = metadata;
    return { ...rest, metadata: otherMetadata };
  };
  return Bun.deepEquals(content(before), content(after));
}

/** Opens the database and takes the lock. @throws SQLiteError */
function opened(path: string): { readonly database: Database; readonly isNew: boolean } {
  const umask = process.umask(0o077); // the journal files get this mode too
  try {
    const database = new Database(path);
    database.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    // In exclusive mode there is no shared-memory file, and the first write keeps its lock until the database is
    // closed.
    database.run('PRAGMA locking_mode = EXCLUSIVE');
    database.run('PRAGMA journal_mode = WAL');
    const format = database.query<{ user_version: number }, []>('PRAGMA user_version').get();
    const isNew = format?.user_version === 0;
    if (isNew) createTables(database);
    else if (format?.user_version !== FORMAT) {
      throw new StateRefused(
        `${path} was written by another version of Snicket (format ${format?.user_version}); use that version, or pass another directory with --state`,
      );
    }
    // Takes the lock without a write, so that a process with a full disk can still serve known objects.
    database.run('BEGIN EXCLUSIVE');
    database.run('ROLLBACK');
    restrictToOwner(path);
    return { database, isNew };
  } finally {
    process.umask(umask);
  }
}

function createTables(database: Database): void {
  database.run('CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL)');
  database.run(
    'CREATE TABLE IF NOT EXISTS objects (plural TEXT, namespace TEXT, name TEXT, object TEXT NOT NULL, PRIMARY KEY (plural, namespace, name))',
  );
  database.run(`PRAGMA user_version = ${FORMAT}`);
}

/** Whether another process has the lock. */
export function isBusy({ code }: SQLiteError): boolean {
  return code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}
