/**
 * Reads an open file to its end, and no further than a limit: what a file says of its size is true of most files, not of
 * those in /proc, which say 0, nor of one that grows.
 */
import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/** Always as much at a time: some files of /proc are read in whole records alone. */
const PIECE_BYTES = 64 * 1024;

/** The content; nothing if it has more bytes than that. */
export function readAtMost(descriptor: number, maxBytes: number): Buffer | undefined {
  const pieces = new Pieces(maxBytes);
  while (pieces.mayGoOn) {
    const room = Buffer.allocUnsafe(PIECE_BYTES);
    pieces.add(room, readSync(descriptor, room));
  }
  return pieces.whole;
}

/** The same, off the thread that asks. */
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
