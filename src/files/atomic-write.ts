/** Writes files atomically: a reader sees either the previous content or the complete new content. */
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from './system-error.ts';

interface AtomicWriteOptions {
  /** Whether to replace an existing file. Default: true. */
  readonly mayReplace?: boolean;
  /** Whether to sync the file and its directory to disk before returning. Default: false. */
  readonly isDurable?: boolean;
}

/** The error for a file that exists and must not be replaced. */
export class FileExists extends Error {
  override readonly name = 'FileExists';
  constructor(path: string) {
    super(`${path} already exists`);
  }
}

/**
 * Suffix of temporary files. It is random, so that no other user can put a link there first. It is the same for the
 * whole process, because errors contain it and callers that retry compare error messages.
 */
const TEMPORARY_SUFFIX = `${process.pid}.${crypto.randomUUID()}`;

/** Errors of file systems without hard links, such as FAT and some network file systems. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Writes a file that only its owner can read. Replaces an existing file instead of writing into it, because other users
 * may be able to read it or have it open.
 *
 * @throws FileExists if the file exists and must not be replaced, or the error of the system, with its `code`. An
 * existing file is then unchanged, and the temporary file is removed.
 */
export function writeAtomically(
  path: string,
  text: string,
  { mayReplace = true, isDurable = false }: AtomicWriteOptions = {},
): void {
  const temporary = `${path}.${TEMPORARY_SUFFIX}`;
  writeNew(temporary, text, isDurable);
  try {
    if (mayReplace) renameSync(temporary, path);
    else linkUnlessExists(temporary, path, () => writeNew(path, text, isDurable));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  if (isDurable) syncDirectory(dirname(path));
}

/** Creates a hard link, which unlike a rename does not replace an existing file. */
function linkUnlessExists(temporary: string, path: string, writeDirectly: () => void): void {
  try {
    try {
      linkSync(temporary, path);
    } catch (error) {
      if (!NO_LINKS.has(systemCode(error))) throw error;
      writeDirectly();
    }
  } catch (error) {
    throw systemCode(error) === 'EEXIST' ? new FileExists(path) : error;
  }
  rmSync(temporary);
}

/** Creates a file, and removes it again if writing fails. Never removes a file that existed before. */
function writeNew(path: string, text: string, isDurable: boolean): void {
  const descriptor = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(descriptor, text);
    if (isDurable) fsyncSync(descriptor);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
