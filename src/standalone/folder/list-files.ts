/** Lists the files of a folder recursively. */
import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FolderUnreadable, type FolderFault } from './fault.ts';
import { systemCode } from '../../files/system-error.ts';

/** More than the routes of a gateway. A folder with more files is probably the wrong one. */
const MAX_FILES = 20_000;
const MAX_DIRECTORIES = 5_000;
const MAX_DEPTH = 16;

/** The replacement character of invalid UTF-8. A file cannot be opened by a name that contains it. */
const NOT_UTF8 = '\ufffd';

const EXTENSION = /\.(ya?ml|json)$/;

/** The entries of a folder. */
interface FileList {
  /** Sorted paths relative to the folder. */
  readonly files: readonly string[];
  /** The subfolders in the same form. The folder itself is the empty string. */
  readonly directories: readonly string[];
  /** Empty folders and broken links. They may be the mount point of a disk that is not mounted. */
  readonly emptyPaths: readonly string[];
  /** Faults of paths whose content is unknown. */
  readonly faults: readonly FolderFault[];
}

/**
 * Lists the YAML and JSON files. Skips hidden files: editors keep their copies there, and Kubernetes volumes their
 * versions. Follows links. @throws FolderUnreadable, or the signal's reason
 */
export async function listFiles(
  folder: string,
  signal: AbortSignal,
  maxDirectories = MAX_DIRECTORIES,
): Promise<FileList> {
  const files: string[] = [];
  const directories: string[] = [];
  const emptyPaths: string[] = [];
  const faults: FolderFault[] = [];
  const visited = new Set<string>();

  async function walk(directory: string, depth: number): Promise<void> {
    signal.throwIfAborted();
    const { dev, ino } = await stat(join(folder, directory));
    if (visited.has(`${dev}:${ino}`)) return; // a link to a folder that was already visited
    visited.add(`${dev}:${ino}`);
    const entries = await readdir(join(folder, directory), { withFileTypes: true });
    directories.push(directory);
    if (depth > MAX_DEPTH)
      reject(`folders nested more than ${MAX_DEPTH} deep, such as ${directory}`);
    if (directories.length > maxDirectories) {
      reject(`more than ${maxDirectories} subfolders, counted up to ${directory}`);
    }
    const seen = entries.filter(({ name }) => !name.startsWith('.'));
    if (seen.length === 0) emptyPaths.push(directory);
    // Sorted, so that of a folder and a link to it the same one is read each time.
    for (const entry of seen.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const { name } = entry;
      const path = join(directory, name);
      if (name.includes(NOT_UTF8)) {
        faults.push({ file: path, sentence: 'the file name is not valid UTF-8; rename the file' });
        continue;
      }
      const found = entry.isSymbolicLink() ? await foundAt(path) : entry;
      if (found?.isDirectory() === true) await enter(path, depth + 1);
      else if (EXTENSION.test(name)) files.push(path); // including broken links, which the reader reports
      if (files.length > MAX_FILES) {
        reject(`more than ${MAX_FILES} YAML and JSON files, counted up to ${path}`);
      }
    }
  }

  function reject(fault: string): never {
    throw new FolderUnreadable(
      `${folder} has ${fault}; pass a folder that contains only Snicket's files`,
    );
  }

  async function enter(directory: string, depth: number): Promise<void> {
    try {
      await walk(directory, depth);
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (code === 'ENOENT') return; // removed since it was listed
      const sentence = `the folder cannot be read (${code})`;
      faults.push({ file: directory, sentence });
    }
  }

  /** Returns the target of a link, or undefined if the link is broken or cannot be followed. */
  async function foundAt(path: string): Promise<Stats | undefined> {
    try {
      return await stat(join(folder, path));
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (EXTENSION.test(path)) return undefined;
      // The link may point to a folder. Its previous content is then unknown, not deleted.
      if (code === 'ENOENT') emptyPaths.push(path);
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
  return { files: files.toSorted(), directories, emptyPaths, faults };
}
