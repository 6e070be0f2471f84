import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { bootId, identityOf, isRunning, type ProcessIdentity } from './identity.ts';

/**
 * A resource that a world created on this machine, as a line of JSON. If its name is known in advance, the line is
 * written before the resource is created. A later process removes the resources of a dead world by these lines.
 */
export type Entry =
  | { readonly kind: 'owner'; readonly process: ProcessIdentity; readonly bootId: string }
  | { readonly kind: 'kept' }
  | { readonly kind: 'inotify'; readonly instances: number }
  | { readonly kind: 'cgroup'; readonly path: string }
  | { readonly kind: 'process'; readonly name: string; readonly process: ProcessIdentity };

/**
 * Folder of all worlds on this machine. It is the same for every user, because processes and cgroups belong to the
 * machine too. It is not below /run, because etcd and containerd need a disk.
 */
export const worldsFolder = resolve(process.env['SNICKET_WORLDS'] || '/var/lib/snicket-worlds');

const LEDGER = 'ledger.jsonl';

/** Append-only list of what one world created. */
export class Ledger {
  readonly folder: string;
  /** The world's short name on this machine. */
  readonly id: string;
  #closed = false;
  readonly #appended: Entry[] = [];

  private constructor(folder: string) {
    this.folder = folder;
    this.id = basename(folder);
  }

  /** Name of the world's cgroup in every hierarchy. */
  get cgroup(): string {
    return `snicket-${this.id}`;
  }

  /** Creates the folder of a new world, with this process as its owner. */
  static create(id: string): Ledger {
    const owner = identityOf(process.pid);
    if (!owner) throw new Error('cannot read /proc/self/stat');
    // Renames the folder when it has the owner, so that a concurrent sweep never finds a world without an owner.
    const temporary = temporaryFolder(id);
    mkdirSync(temporary, { recursive: true, mode: 0o700 });
    const entry: Entry = { kind: 'owner', process: owner, bootId: bootId() };
    writeFileSync(join(temporary, LEDGER), `${JSON.stringify(entry)}\n`);
    const folder = join(worldsFolder, id);
    renameSync(temporary, folder);
    return new Ledger(folder);
  }

  /** Returns the ledger of an existing world, or undefined. */
  static find(id: string): Ledger | undefined {
    const folder = join(worldsFolder, id);
    return existsSync(join(folder, LEDGER)) ? new Ledger(folder) : undefined;
  }

  /** Rejects further starts, because the world is being removed. */
  close(): void {
    this.#closed = true;
  }

  /** Throws if the world is being removed. Called before each start of a program. */
  assertOpen(): void {
    if (this.#closed || !existsSync(join(this.folder, LEDGER))) {
      throw new Error(`world ${this.id} is being removed or has been removed`);
    }
  }

  /** Adds an entry. */
  append(entry: Entry): void {
    this.#appended.push(entry);
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    // Does not create the file, because another process may have removed the world.
    const file = openSync(join(this.folder, LEDGER), constants.O_WRONLY | constants.O_APPEND);
    try {
      const size = fstatSync(file).size;
      if (writeSync(file, line) === line.length) return;
      ftruncateSync(file, size); // half a line would corrupt the next one
      throw new Error(`the disk of ${this.folder} is full`);
    } finally {
      closeSync(file);
    }
  }

  /** Returns all entries so far. If the world has been removed meanwhile, returns those that were appended here. */
  entries(): Entry[] {
    const path = join(this.folder, LEDGER);
    try {
      return parseLedger(readFileSync(path, 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [...this.#appended];
      throw error;
    }
  }
}

/**
 * Parses the entries of a ledger and skips truncated lines. Their resources were not created, or they are in the
 * world's cgroups, which are found by the ID of the world.
 */
export function parseLedger(text: string): Entry[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Entry];
    } catch {
      return [];
    }
  });
}

/** Returns the folder in which this process creates or removes a world. */
export function temporaryFolder(id: string): string {
  return join(worldsFolder, `.snicket-world-${id}-${process.pid}`);
}

/** Returns the PID of the process that created such a folder; undefined for other names. */
export function temporaryFolderOwner(name: string): number | undefined {
  const pid = /^\.snicket-world-\w+-(\d+)$/.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** Returns the IDs of the worlds on this machine. */
export function worldIds(): string[] {
  try {
    return readdirSync(worldsFolder).filter(
      (name) => !name.startsWith('.') && existsSync(join(worldsFolder, name, LEDGER)),
    );
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    if (code === 'EACCES')
      throw new Error(`${worldsFolder} can be read by root only`, { cause: error });
    throw error;
  }
}

/** State of a world, derived from its ledger alone. */
export type WorldState = 'running' | 'kept' | 'dead' | 'damaged';

/**
 * Returns the state of a world. `running`: its owner runs. `kept`: its owner has ended since the last boot, and the
 * world is marked as kept. `dead`: otherwise. `damaged`: the ledger has no owner.
 */
export function worldState(entries: readonly Entry[]): WorldState {
  const owner = entries.find((entry) => entry.kind === 'owner');
  if (!owner) return 'damaged';
  if (owner.bootId !== bootId()) return 'dead';
  if (isRunning(owner.process)) return 'running';
  return entries.some((entry) => entry.kind === 'kept') ? 'kept' : 'dead';
}
