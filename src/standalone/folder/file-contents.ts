/**
 * What is in files that are read again and again: a thousand of them every few seconds, of which hardly any has changed.
 */
import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, stat } from 'node:fs/promises';
import { readAtMostLater } from '../../files/bounded-read.ts';
import { systemCode } from '../../files/system-error.ts';

/** As much as an API server takes for one object. */
const MAX_FILE_BYTES = 3 * 1024 * 1024;

/**
 * A file that was written this short a time before it was read may be written again with no other time to it: clocks of
 * file systems go in steps, of two seconds at most.
 */
const UNSETTLED_MS = 2_500;

/** To open a FIFO without it is to wait for its writer. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

interface Content {
  readonly bytes: Buffer;
  /** What changes with the content. */
  readonly stamp: string;
  readonly isSettled: boolean;
}

/** The contents, each read anew only if its file may have changed. */
export class FileContents {
  #before: ReadonlyMap<string, Content> = new Map();
  #now = new Map<string, Content>();

  /** The content; a sentence if it cannot be read; nothing if there is no such file. */
  async read(path: string): Promise<Buffer | string | undefined> {
    try {
      const known = this.#now.get(path) ?? this.#before.get(path);
      if (
        known?.isSettled === true &&
        stampOf(await stat(path, { bigint: true })) === known.stamp
      ) {
        this.#now.set(path, known);
        return known.bytes;
      }
      return await this.#readAnew(path);
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (code !== 'ENOENT') return `${path} cannot be read (${code})`;
      return (await isLink(path)) ? `${path} is a link that leads nowhere` : undefined;
    }
  }

  /** Forgets a file that is of no use, and may be large. */
  forget(path: string): void {
    this.#now.delete(path);
  }

  /** Forgets the files that nobody has asked for since the last call. */
  forgetUnread(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }

  async #readAnew(path: string): Promise<Buffer | string> {
    // To open a device may do something: some watchdogs begin to count.
    if (!(await stat(path)).isFile()) return notRegular(path);
    const file = await open(path, FLAGS);
    try {
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile()) return notRegular(path);
      if (stats.size > MAX_FILE_BYTES) return tooLarge(path, `${stats.size}`);
      const writtenMs = Number(stats.ctimeMs > stats.mtimeMs ? stats.ctimeMs : stats.mtimeMs);
      const isSettled = Math.abs(Date.now() - writtenMs) > UNSETTLED_MS;
      const bytes = await readAtMostLater(file, MAX_FILE_BYTES);
      if (bytes === undefined) return tooLarge(path, `more than ${MAX_FILE_BYTES}`);
      this.#now.set(path, { bytes, stamp: stampOf(stats), isSettled });
      return bytes;
    } finally {
      await file.close();
    }
  }
}

function notRegular(path: string): string {
  return `${path} is not a regular file; write the content into one`;
}

function tooLarge(path: string, size: string): string {
  return `${path} has ${size} bytes; at most ${MAX_FILE_BYTES} are read`;
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
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
