/**
 * Reads a file that somebody else names and may replace: by a FIFO, on which a plain open() waits for ever, or by a
 * device that never ends. Neither may stop the program.
 */
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { readAtMost, readAtMostLater } from './bounded-read.ts';

/** No file that is watched is larger: room for as many routes as a gateway takes, with a kilobyte for each. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** A file that is there and is not read. */
export class UnfitFile extends Error {
  override readonly name = 'UnfitFile';
  readonly code: 'file_not_regular' | 'file_too_large';

  constructor(code: UnfitFile['code'], sentence: string) {
    super(sentence);
    this.code = code;
  }
}

/** Without O_NONBLOCK, to open a FIFO is to wait for its writer. Regular files do not know the flag. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

/** The content. @throws UnfitFile, or the system's error. */
export function readWatched(path: string): Buffer {
  const descriptor = openSync(path, FLAGS);
  try {
    refuseUnfit(path, fstatSync(descriptor));
    return readAtMost(descriptor, MAX_FILE_BYTES) ?? refuseLarge(path);
  } finally {
    closeSync(descriptor);
  }
}

/** The same, off the thread that asks. */
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

/** Without a size: it has said a smaller one. */
function refuseLarge(path: string, sizeBytes?: number): never {
  const size = sizeBytes ?? `more than ${MAX_FILE_BYTES}`;
  throw new UnfitFile(
    'file_too_large',
    `${path} has ${size} bytes; at most ${MAX_FILE_BYTES} are read`,
  );
}
