import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { bootId, identityOf, isRunning, type ProcessIdentity } from './identity.ts';

/**
 * What a world put on this machine, one JSON line each, written before the thing is made where its
 * name is known in advance. Whoever finds the ledger of a dead world can remove exactly that.
 */
export type Entry =
  | { readonly kind: 'owner'; readonly process: ProcessIdentity; readonly bootId: string }
  | { readonly kind: 'kept' }
  | { readonly kind: 'cgroup'; readonly path: string }
  | { readonly kind: 'process'; readonly name: string; readonly process: ProcessIdentity };

/**
 * Where all worlds of this machine live. One place for every user and home folder, since what they
 * make (processes, cgroups) is the machine's too. Not under /run: etcd and containerd need a disk.
 */
export const worldsFolder = process.env['SNICKET_WORLDS'] ?? '/var/lib/snicket-worlds';

const LEDGER = 'ledger.jsonl';

/** The append-only list of what one world made. */
export class Ledger {
  readonly folder: string;
  /** The world's short name on this machine. */
  readonly id: string;
  #closed = false;

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
    const unnamed = join(worldsFolder, `.${id}-${process.pid}`);
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
    // Never made anew: a world that somebody else has removed must not seem to be there.
    const file = openSync(join(this.folder, LEDGER), constants.O_WRONLY | constants.O_APPEND);
    writeSync(file, `${JSON.stringify(entry)}\n`);
    closeSync(file);
  }

  /**
   * All entries so far; none if the world has been removed meanwhile. A last line cut short by a crash is left
   * out: what it would name was not made yet.
   */
  entries(): Entry[] {
    const path = join(this.folder, LEDGER);
    try {
      return parseLedger(readFileSync(path, 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
}

/** Entries of a ledger's text. */
export function parseLedger(text: string): Entry[] {
  const lines = text.split('\n');
  lines.pop(); // after the last newline: nothing, or a line that was never finished
  return lines.map((line, index) => {
    try {
      return JSON.parse(line) as Entry;
    } catch (error) {
      throw new Error(`line ${index + 1} of the ledger is damaged: ${line}`, { cause: error });
    }
  });
}

/** The ids of the worlds whose folder is on this machine. */
export function worldIds(): string[] {
  if (!existsSync(worldsFolder)) return [];
  return readdirSync(worldsFolder).filter(
    (name) => !name.startsWith('.') && existsSync(join(worldsFolder, name, LEDGER)),
  );
}

/** How a world stands, judged from its ledger alone. */
export type Standing = 'running' | 'kept' | 'dead';

/** Running: its owner lives. Kept: it was asked to outlive its owner, in this boot. Dead: anything else. */
export function standing(entries: readonly Entry[]): Standing {
  const owner = entries.find((entry) => entry.kind === 'owner');
  if (!owner || owner.bootId !== bootId()) return 'dead';
  if (isRunning(owner.process)) return 'running';
  return entries.some((entry) => entry.kind === 'kept') ? 'kept' : 'dead';
}
