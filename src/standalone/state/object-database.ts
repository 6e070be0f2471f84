/**
 * The objects in a file of SQLite: one that is whole whenever the machine stops, and that only one process has at a time,
 * with a lock that ends with the process.
 */
import { Database, SQLiteError } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiObject, ObjectKeeper } from '../../kube/store/object-store.ts';
import type { ObjectKey } from '../../kube/object.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import { systemCode } from '../../files/system-error.ts';
import { OPERATOR_NAMESPACE } from '../folder/rules.ts';
import { closeToOthers, StateRefused } from './state-folder.ts';

/** The name of the file in the state. */
export const DATABASE_FILE = 'objects.db';

/** Who asks whether somebody has the state has it for a moment: that is waited for. */
const BUSY_MS = 500;

/** What is kept. The rest is made anew at each start. */
const KEPT: readonly Resource[] = [
  RESOURCES.edge,
  RESOURCES.exposure,
  RESOURCES.tenantRoute,
  RESOURCES.secret,
  RESOURCES.service,
  RESOURCES.endpointSlice,
];

/** Written by one who reads it in another way: the number changes with the table. */
const FORMAT = 1;

/** An object that was kept. */
export interface KeptObject {
  readonly resource: Resource;
  readonly object: ApiObject;
}

/** Keeps objects over restarts. */
export class ObjectDatabase implements ObjectKeeper {
  /** Whether there was none, or one without anything in it. */
  readonly isNew: boolean;
  readonly #database: Database;
  /** Its name says where it is. */
  readonly #path: string;
  /** What that name led to when it was opened. */
  readonly #file: string;

  /** @throws StateRefused if another process has it, or if it is none of ours */
  constructor(state: string) {
    this.#path = join(state, DATABASE_FILE);
    try {
      const { database, isNew } = opened(this.#path);
      this.#database = database;
      this.isNew = isNew;
      this.#file = fileAt(this.#path);
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error;
      if (!isBusy(error)) throw unusable(this.#path, error);
      throw new StateRefused(
        `another snicket has the state ${state}; end it, or give another folder with --state`,
        { cause: error },
      );
    }
  }

  /** The folder that the objects are from, when they were last kept. */
  get folder(): string | undefined {
    return this.#about('folder');
  }

  /** @throws StateRefused */
  set folder(path: string) {
    this.#setAbout('folder', path);
  }

  /** Identifies this state, from its first start on. @throws StateRefused if it is new and cannot be written */
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

  /** @throws StateRefused */
  #setAbout(name: 'folder' | 'id', value: string): void {
    try {
      this.#database.run('INSERT OR REPLACE INTO about VALUES (?, ?)', [name, value]);
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error;
      throw unusable(this.#path, error);
    }
  }

  /** What is wrong if the file that this process has is not the one in the state any more: the lock is on the former. */
  whyLost(): string | undefined {
    const now = fileAt(this.#path);
    if (now === this.#file) return undefined;
    return `${this.#path} was removed or replaced (${now}) while this process has it: what is in force is forgotten when it ends, and nothing keeps another snicket from this state; end it, and start it again`;
  }

  /** All that is kept. @throws StateRefused */
  objects(): readonly KeptObject[] {
    return this.#readable(() => {
      const rows = this.#database
        .query<{ plural: string; object: string }, []>('SELECT plural, object FROM objects')
        .all();
      return rows.flatMap(({ plural, object }): readonly KeptObject[] => {
        const resource = KEPT.find((one) => one.plural === plural);
        return resource === undefined ? [] : [{ resource, object: objectOf(object) }];
      });
    });
  }

  /** On the disk before it counts. @throws SQLiteError */
  put(resource: Resource, object: ApiObject, before: ApiObject | undefined): void {
    const { namespace = '', name } = object.metadata;
    if (!isKept(resource, namespace)) return;
    this.#sync(resource, before === undefined || !isReport(before, object));
    this.#database.run('INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?)', [
      ...[resource.plural, namespace, name, JSON.stringify(object)],
    ]);
  }

  remove(resource: Resource, { namespace = '', name }: ObjectKey): void {
    if (!isKept(resource, namespace)) return;
    this.#sync(resource, true);
    this.#database.run('DELETE FROM objects WHERE plural = ? AND namespace = ? AND name = ?', [
      ...[resource.plural, namespace, name],
    ]);
  }

  close(): void {
    this.#database.close();
  }

  /** SQLite finds damage where it looks, and not before. @throws StateRefused */
  #readable<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      this.#database.close();
      if (!(error instanceof SQLiteError || error instanceof SyntaxError)) throw error;
      throw unusable(this.#path, error);
    }
  }

  /** Waits for the disk for what nobody could make anew: a wish, a finalizer, a key. */
  #sync(resource: Resource, isIrreplaceable: boolean): void {
    const made: readonly string[] = [RESOURCES.service.plural, RESOURCES.endpointSlice.plural];
    const mode = isIrreplaceable && !made.includes(resource.plural) ? 'FULL' : 'NORMAL';
    this.#database.run(`PRAGMA synchronous = ${mode}`);
  }
}

/** @throws SyntaxError */
function objectOf(text: string): ApiObject {
  const object = JSON.parse(text) as Partial<ApiObject> | null;
  if (typeof object?.metadata?.name === 'string') return object as ApiObject;
  throw new SyntaxError('what is kept is no object');
}

/** Of which file a name is, or why it is of none. */
function fileAt(path: string): string {
  try {
    const { dev, ino } = statSync(path);
    return `inode ${ino} of device ${dev}`;
  } catch (error) {
    return systemCode(error) ?? String(error);
  }
}

/** What is whole is not to be moved away: a disk without room, or without an answer, is the fault of neither. */
function unusable(path: string, cause: Error): StateRefused {
  const isWhole =
    cause instanceof SQLiteError && /^SQLITE_(FULL|IOERR|READONLY|PERM)/.test(cause.code ?? '');
  const advice = isWhole
    ? 'see to its disk, and start again'
    : 'move it away to begin anew, and Snicket knows of no tenant that it has to leave';
  return new StateRefused(`${path} cannot be used (${cause.message}); ${advice}`, { cause });
}

/** The keys of the gateway are in a file of their own. */
function isKept({ plural }: Resource, namespace: string): boolean {
  return namespace !== OPERATOR_NAMESPACE && KEPT.some((kind) => kind.plural === plural);
}

/** Whether nothing but the status has changed. */
function isReport(before: ApiObject, after: ApiObject): boolean {
  const wish = ({ metadata, status: _status, ...rest }: ApiObject) => {
    const { resourceVersion: _version, managedFields: _owners, ...kept } = metadata;
    return { ...rest, metadata: kept };
  };
  return Bun.deepEquals(wish(before), wish(after));
}

/** @throws SQLiteError */
function opened(path: string): { readonly database: Database; readonly isNew: boolean } {
  const umask = process.umask(0o077); // its journals have the mode of the moment too
  try {
    const database = new Database(path);
    database.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    // In this mode there is no file for shared memory, and the first write takes a lock for good.
    database.run('PRAGMA locking_mode = EXCLUSIVE');
    database.run('PRAGMA journal_mode = WAL');
    const format = database.query<{ user_version: number }, []>('PRAGMA user_version').get();
    const isNew = format?.user_version === 0;
    if (isNew) createTables(database);
    else if (format?.user_version !== FORMAT) {
      throw new StateRefused(
        `${path} is of another version of Snicket (format ${format?.user_version}); use that one, or give another folder with --state`,
      );
    }
    // For the lock. It writes nothing: a disk that is full must not keep a process from serving what is known.
    database.run('BEGIN EXCLUSIVE');
    database.run('ROLLBACK');
    closeToOthers(path);
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

/** Whether it is because another process has the file. */
export function isBusy({ code }: SQLiteError): boolean {
  return code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}
