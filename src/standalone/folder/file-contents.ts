/** Caches the contents of files. A sync reads a thousand files every few seconds, and hardly any has changed. */
import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, stat } from 'node:fs/promises';
import { readAtMostAsync } from '../../files/bounded-read.ts';
import { systemCode } from '../../files/system-error.ts';

/** The maximum size of an object in an API server. */
const MAX_FILE_BYTES = 3 * 1024 * 1024;

/**
 * A file that was modified less than this before the read may change again without a new timestamp. Timestamps of file
 * systems have a granularity of up to two seconds.
 */
const UNSTABLE_MS = 2_500;

/** O_NONBLOCK, because opening a FIFO without it waits for a writer. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

interface Content {
  readonly bytes: Buffer;
  /** Identifies the version of the file. */
  readonly version: string;
  readonly isStable: boolean;
}

/** Reads files, and reads a file again only if it may have changed. */
export class FileContents {
  #before: ReadonlyMap<string, Content> = new Map();
  #now = new Map<string, Content>();

  /** Returns the content, a sentence if the file cannot be read, or undefined if there is no such file. */
  async read(path: string): Promise<Buffer | string | undefined> {
    try {
      const known = this.#now.get(path) ?? this.#before.get(path);
      if (
        known?.isStable === true &&
        versionOf(await stat(path, { bigint: true })) === known.version
      ) {
        this.#now.set(path, known);
        return known.bytes;
      }
      return await this.#readFile(path);
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (code !== 'ENOENT') return `${path} cannot be read (${code})`;
      return (await isLink(path)) ? `${path} is a broken symbolic link` : undefined;
    }
  }

  /** Removes an unusable file from the cache, since it may be large. */
  forget(path: string): void {
    this.#now.delete(path);
  }

  /** Removes the files from the cache that were not read since the last call. */
  forgetUnread(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }

  async #readFile(path: string): Promise<Buffer | string> {
    // Checks before opening, because opening a device can have side effects: some watchdogs start counting.
    if (!(await stat(path)).isFile()) return notRegular(path);
    const file = await open(path, FLAGS);
    try {
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile()) return notRegular(path);
      if (stats.size > MAX_FILE_BYTES) return tooLarge(path, `${stats.size}`);
      const writtenMs = Number(stats.ctimeMs > stats.mtimeMs ? stats.ctimeMs : stats.mtimeMs);
      const isStable = Math.abs(Date.now() - writtenMs) > UNSTABLE_MS;
      const bytes = await readAtMostAsync(file, MAX_FILE_BYTES);
      if (bytes === undefined) return tooLarge(path, `more than ${MAX_FILE_BYTES}`);
      this.#now.set(path, { bytes, version: versionOf(stats), isStable });
      return bytes;
    } finally {
      await file.close();
    }
  }
}

function notRegular(path: string): string {
  return `${path} is not a regular file`;
}

function tooLarge(path: string, size: string): string {
  return `${path} is too large: ${size} bytes, at most ${MAX_FILE_BYTES}`;
}

function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}
