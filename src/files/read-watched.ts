/**
 * Reads a file that another program writes and may replace. The replacement could be a FIFO, on which a plain open()
 * blocks forever, or a device without an end. Neither may block this program.
 */
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { readAtMost, readAtMostLater } from './bounded-read.ts';

/** Maximum size of a watched file: 1 KiB for each of the routes that a gateway takes by default. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The file exists but cannot be used. */
export class UnfitFile extends Error {
  override readonly name = 'UnfitFile';
  readonly code: 'file_not_regular' | 'file_too_large';

  constructor(code: UnfitFile['code'], sentence: string) {
    super(sentence);
    this.code = code;
  }
}

/** O_NONBLOCK, because opening a FIFO without it waits for a writer. Regular files ignore the flag. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

/** Returns the content. @throws UnfitFile or the system error. */
export function readWatched(path: string): Buffer {
  const descriptor = openSync(path, FLAGS);
  try {
    refuseUnfit(path, fstatSync(descriptor));
    return readAtMost(descriptor, MAX_FILE_BYTES) ?? refuseLarge(path);
  } finally {
    closeSync(descriptor);
  }
}

/** Like {@link readWatched}, without blocking the calling thread. */
export async function readWatchedLater(path: string): Promise<Buffer> {
  const file = await open(path, FLAGS);
  try {
    refuseUnfit(path, await file.stat());
    return (await readAtMostLater(file, MAX_FILE_BYTES)) ?? refuseLarge(path);
  } finally {
    await file.close();
  }
}

function refuseUnfit(path: string, stats: Stats): void {
  if (!stats.isFile()) {
    throw new UnfitFile(
      'file_not_regular',
      `${path} is not a regular file; write the content into one`,
    );
  }
  if (stats.size > MAX_FILE_BYTES) refuseLarge(path, stats.size);
}

/** `sizeBytes` is omitted if the file reports a smaller size than it has. */
function refuseLarge(path: string, sizeBytes?: number): never {
  const size = sizeBytes ?? `more than ${MAX_FILE_BYTES}`;
  throw new UnfitFile(
    'file_too_large',
    `${path} has ${size} bytes; at most ${MAX_FILE_BYTES} are read`,
  );
}
