/**
 * Reads an open file to its end, up to a limit. The reported size of a file is not reliable: files in /proc report 0,
 * and a file may grow during the read.
 */
import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/** Size of each read. It is fixed, because some files in /proc can only be read in whole records. */
const PIECE_BYTES = 64 * 1024;

/** Returns the content, or undefined if it has more than `maxBytes`. */
export function readAtMost(descriptor: number, maxBytes: number): Buffer | undefined {
  const pieces = new Pieces(maxBytes);
  while (pieces.mayGoOn) {
    const room = Buffer.allocUnsafe(PIECE_BYTES);
    pieces.add(room, readSync(descriptor, room));
  }
  return pieces.whole;
}

/** Like {@link readAtMost}, without blocking the calling thread. */
export async function readAtMostLater(
  file: FileHandle,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const pieces = new Pieces(maxBytes);
  while (pieces.mayGoOn) {
    const room = Buffer.allocUnsafe(PIECE_BYTES);
    pieces.add(room, (await file.read(room)).bytesRead);
  }
  return pieces.whole;
}

class Pieces {
  readonly #maxBytes: number;
  readonly #read: Buffer[] = [];
  #bytes = 0;
  #isAtEnd = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get mayGoOn(): boolean {
    return !this.#isAtEnd && this.#bytes <= this.#maxBytes;
  }

  add(room: Buffer, length: number): void {
    this.#isAtEnd = length === 0;
    this.#bytes += length;
    this.#read.push(room.subarray(0, length));
  }

  get whole(): Buffer | undefined {
    return this.#bytes > this.#maxBytes ? undefined : Buffer.concat(this.#read);
  }
}
