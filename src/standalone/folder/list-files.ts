/**
 * The files of a folder, at any depth.
 */
import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FolderUnreadable, type FolderFault } from './fault.ts';
import { systemCode } from '../../files/system-error.ts';

/** More than a gateway has routes for: whoever has more has given the wrong folder. */
const MAX_FILES = 20_000;
const MAX_DIRECTORIES = 5_000;
const MAX_DEPTH = 16;

/** What stands for each byte of a name that is of no text; by that name nothing can be opened. */
const NOT_UTF8 = '\ufffd';

const EXTENSION = /\.(ya?ml|json)$/;

/** What there is. */
export interface FileList {
  /** Paths from the folder on, in the order of the alphabet. */
  readonly files: readonly string[];
  /** The same of the directories in it, the folder itself being empty. */
  readonly directories: readonly string[];
  /** Folders with nothing in them, and links that lead nowhere: where a disk would be that is not mounted. */
  readonly hollow: readonly string[];
  /** Places whose content is not known. */
  readonly faults: readonly FolderFault[];
}

/**
 * Lists the files that count. Hidden ones do not: editors have their copies there, and volumes of Kubernetes their
 * versions. Links are followed. @throws FolderUnreadable, or the signal's reason
 */
export async function listFiles(
  folder: string,
  signal: AbortSignal,
  maxDirectories = MAX_DIRECTORIES,
): Promise<FileList> {
  const files: string[] = [];
  const directories: string[] = [];
  const hollow: string[] = [];
  const faults: FolderFault[] = [];
  const visited = new Set<string>();

  async function walk(directory: string, depth: number): Promise<void> {
    signal.throwIfAborted();
    const { dev, ino } = await stat(join(folder, directory));
    if (visited.has(`${dev}:${ino}`)) return; // a link to where we have been
    visited.add(`${dev}:${ino}`);
    const entries = await readdir(join(folder, directory), { withFileTypes: true });
    directories.push(directory);
    if (depth > MAX_DEPTH) refuse(`folders more than ${MAX_DEPTH} deep, such as ${directory}`);
    if (directories.length > maxDirectories) {
      refuse(`more than ${maxDirectories} folders in it, counted up to ${directory}`);
    }
    const seen = entries.filter(({ name }) => !name.startsWith('.'));
    if (seen.length === 0) hollow.push(directory);
    // In order: of a folder and a link to it, the first is read each time.
    for (const entry of seen.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      const { name } = entry;
      const path = join(directory, name);
      if (name.includes(NOT_UTF8)) {
        faults.push({ file: path, sentence: 'the name is not in UTF-8; rename it' });
        continue;
      }
      const found = entry.isSymbolicLink() ? await foundAt(path) : entry;
      if (found?.isDirectory() === true) await enter(path, depth + 1);
      else if (EXTENSION.test(name)) files.push(path); // one that leads nowhere too: whoever reads it says so
      if (files.length > MAX_FILES) {
        refuse(`more than ${MAX_FILES} files of YAML and JSON, counted up to ${path}`);
      }
    }
  }

  function refuse(what: string): never {
    throw new FolderUnreadable(
      `${folder} has ${what}; give a folder with nothing but Snicket's files`,
    );
  }

  async function enter(directory: string, depth: number): Promise<void> {
    try {
      await walk(directory, depth);
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (code === 'ENOENT') return; // gone since it was listed
      const sentence = `the folder cannot be read (${code})`;
      faults.push({ file: directory, sentence });
    }
  }

  /** What a link leads to; nothing for one that leads nowhere, or where it cannot be followed. */
  async function foundAt(path: string): Promise<Stats | undefined> {
    try {
      return await stat(join(folder, path));
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (EXTENSION.test(path)) return undefined;
      // It may lead to a folder: what was found in there is not known any more, and not gone.
      if (code === 'ENOENT') hollow.push(path);
      else faults.push({ file: path, sentence: `the link cannot be followed (${code})` });
      return undefined;
    }
  }

  try {
    await walk('', 0);
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new FolderUnreadable(`the folder ${folder} cannot be read (${code})`, { cause: error });
  }
  return { files: files.toSorted(), directories, hollow, faults };
}
