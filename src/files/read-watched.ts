/**
 * Reads a file that another program writes and may replace. The replacement could be a FIFO, which would block open()
 * forever, or an endless device. Neither may block this program.
 */
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { readAtMost, readAtMostAsync } from './bounded-read.ts';

/** Maximum size of a watched file: 1 KiB for each of the routes that a gateway accepts by default. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The error for a file that exists but cannot be used. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
  readonly code: 'file_not_regular' | 'file_too_large';

  constructor(code: UnusableFile['code'], sentence: string) {
    super(sentence);
    this.code = code;
  }
}

/** O_NONBLOCK, because opening a FIFO without it waits for a writer. Regular files ignore the flag. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

/** Returns the content. @throws UnusableFile or the system error. */
export function readWatched(path: string): Buffer {
  const descriptor = openSync(path, FLAGS);
  try {
    rejectUnusable(path, fstatSync(descriptor));
    return readAtMost(descriptor, MAX_FILE_BYTES) ?? rejectTooLarge(path);
  } finally {
    closeSync(descriptor);
  }
}

/** Like {@link readWatched}, without blocking the calling thread. */
export async function readWatchedAsync(path: string): Promise<Buffer> {
  const file = await open(path, FLAGS);
  try {
    rejectUnusable(path, await file.stat());
    return (await readAtMostAsync(file, MAX_FILE_BYTES)) ?? rejectTooLarge(path);
  } finally {
    await file.close();
  }
}

function rejectUnusable(path: string, stats: Stats): void {
  if (!stats.isFile()) {
    throw new UnusableFile('file_not_regular', `${path} is not a regular file`);
  }
  if (stats.size > MAX_FILE_BYTES) rejectTooLarge(path, stats.size);
}

/** `sizeBytes` is omitted if the file reports a smaller size than it has. */
function rejectTooLarge(path: string, sizeBytes?: number): never {
  const size = sizeBytes ?? `more than ${MAX_FILE_BYTES}`;
  throw new UnusableFile(
    'file_too_large',
    `${path} is too large: ${size} bytes, at most ${MAX_FILE_BYTES}`,
  );
}
