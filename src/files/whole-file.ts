/**
 * A file that is there as a whole, or as it was before.
 */
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

/** Options of {@link writeWhole}. */
export interface WholeFileOptions {
  /** Whether it takes the place of a file that is there. Default: yes. */
  readonly mayReplace?: boolean;
  /** Whether it waits until a power cut cannot undo it. Default: no. */
  readonly isDurable?: boolean;
}

/** That a file is there already, and is to stay. */
export class FileExists extends Error {
  override readonly name = 'FileExists';
  constructor(path: string) {
    super(`${path} is there already`);
  }
}

/**
 * The end of the name that a file has until it is whole. Nobody can know it, and so put a link there before us; and it is
 * one for all, since who tries again and again tells a fault by its words, which have the name.
 */
const UNTIL_WHOLE = `${process.pid}.${crypto.randomUUID()}`;

/** What file systems without hard links say to one: FAT and some of networks. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Writes a file that only its owner can read. One that is there is replaced and not written into: others may be able to
 * read it, or have it open.
 *
 * @throws FileExists, unless it may replace; or the system's error, with its `code`. What was there is left then, and
 * nothing is added.
 */
export function writeWhole(
  path: string,
  text: string,
  { mayReplace = true, isDurable = false }: WholeFileOptions = {},
): void {
  const beside = `${path}.${UNTIL_WHOLE}`;
  writeNew(beside, text, isDurable);
  try {
    if (mayReplace) renameSync(beside, path);
    else putInFreePlace(beside, path, () => writeNew(path, text, isDurable));
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
  if (isDurable) syncDirectory(dirname(path));
}

/** By a link, which unlike a rename leaves what is there. */
function putInFreePlace(beside: string, path: string, writeThere: () => void): void {
  try {
    try {
      linkSync(beside, path);
    } catch (error) {
      if (!NO_LINKS.has(systemCode(error))) throw error;
      writeThere();
    }
  } catch (error) {
    throw systemCode(error) === 'EEXIST' ? new FileExists(path) : error;
  }
  rmSync(beside);
}

/** What is made is taken away again if it does not become whole; what somebody else made is not. */
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
