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
 * What a world put on this machine, one JSON line each, written before the thing is made where its
 * name is known in advance. Whoever finds the ledger of a dead world can remove exactly that.
 */
export type Entry =
  | { readonly kind: 'owner'; readonly process: ProcessIdentity; readonly bootId: string }
  | { readonly kind: 'kept' }
  | { readonly kind: 'inotify'; readonly instances: number }
  | { readonly kind: 'cgroup'; readonly path: string }
  | { readonly kind: 'process'; readonly name: string; readonly process: ProcessIdentity };

/**
 * Where all worlds of this machine live. One place for every user and home folder, since what they
 * make (processes, cgroups) is the machine's too. Not under /run: etcd and containerd need a disk.
 */
export const worldsFolder = resolve(process.env['SNICKET_WORLDS'] || '/var/lib/snicket-worlds');

const LEDGER = 'ledger.jsonl';

/** The append-only list of what one world made. */
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

  /** Name of the world's cgroup in every tree. */
  get cgroup(): string {
    return `snicket-${this.id}`;
  }

  /** Makes the folder of a new world, with this process as its owner. */
  static create(id: string): Ledger {
    const owner = identityOf(process.pid);
    if (!owner) throw new Error('cannot read /proc/self/stat');
    // The folder appears under its name together with its owner: a sweep that runs at the same time
    // never meets a world that seems to belong to nobody.
    const unnamed = unnamedFolder(id);
    mkdirSync(unnamed, { recursive: true, mode: 0o700 });
    const entry: Entry = { kind: 'owner', process: owner, bootId: bootId() };
    writeFileSync(join(unnamed, LEDGER), `${JSON.stringify(entry)}\n`);
    const folder = join(worldsFolder, id);
    renameSync(unnamed, folder);
    return new Ledger(folder);
  }

  /** The ledger of a world that is there already, or undefined. */
  static find(id: string): Ledger | undefined {
    const folder = join(worldsFolder, id);
    return existsSync(join(folder, LEDGER)) ? new Ledger(folder) : undefined;
  }

  /** From now on nothing more may be started: the world is being removed. */
  close(): void {
    this.#closed = true;
  }

  /** Fails if the world is being removed; asked before anything is started in it. */
  assertOpen(): void {
    if (this.#closed || !existsSync(join(this.folder, LEDGER))) {
      throw new Error(`world ${this.id} is being removed, or was`);
    }
  }

  /** Adds an entry. */
  append(entry: Entry): void {
    this.#appended.push(entry);
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    // Never made anew: a world that somebody else has removed must not seem to be there.
    const file = openSync(join(this.folder, LEDGER), constants.O_WRONLY | constants.O_APPEND);
    try {
      const size = fstatSync(file).size;
      if (writeSync(file, line) === line.length) return;
      ftruncateSync(file, size); // half a line would spoil the next one
      throw new Error(`the disk of ${this.folder} is full`);
    } finally {
      closeSync(file);
    }
  }

  /** All entries so far; of a world that has been removed meanwhile, those that were added here. */
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
 * Entries of a ledger's text. A line that was cut short is left out: what it would name was not made yet, or is in the
 * world's cgroups, whose names follow from its id.
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

/** Name of a folder in which this process makes or removes a world. */
export function unnamedFolder(id: string): string {
  return join(worldsFolder, `.snicket-world-${id}-${process.pid}`);
}

/** The process that made such a folder; undefined for folders of any other name. */
export function unnamedOwner(name: string): number | undefined {
  const pid = /^\.snicket-world-\w+-(\d+)$/.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** The ids of the worlds whose folder is on this machine. */
export function worldIds(): string[] {
  try {
    return readdirSync(worldsFolder).filter(
      (name) => !name.startsWith('.') && existsSync(join(worldsFolder, name, LEDGER)),
    );
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    if (code === 'EACCES')
      throw new Error(`${worldsFolder} can be read by root alone`, { cause: error });
    throw error;
  }
}

/** How a world stands, judged from its ledger alone. */
export type Standing = 'running' | 'kept' | 'dead' | 'damaged';

/**
 * Running: its owner lives. Kept: it was asked to outlive its owner, in this boot. Dead: neither. Damaged: nobody can
 * tell, since its ledger names no owner.
 */
export function standing(entries: readonly Entry[]): Standing {
  const owner = entries.find((entry) => entry.kind === 'owner');
  if (!owner) return 'damaged';
  if (owner.bootId !== bootId()) return 'dead';
  if (isRunning(owner.process)) return 'running';
  return entries.some((entry) => entry.kind === 'kept') ? 'kept' : 'dead';
}
