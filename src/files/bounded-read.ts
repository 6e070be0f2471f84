/**
 * Reads an open file to its end, up to a limit. The reported size of a file is not reliable: files in /proc report 0,
 * and a file may grow during the read.
 */
import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/** Size of each read. It is fixed, because some files in /proc can only be read in whole records. */
const CHUNK_BYTES = 64 * 1024;

/** Returns the content, or undefined if it has more than `maxBytes`. */
export function readAtMost(descriptor: number, maxBytes: number): Buffer | undefined {
  const chunks = new ChunkCollector(maxBytes);
  while (chunks.needsMore) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    chunks.add(chunk, readSync(descriptor, chunk));
  }
  return chunks.content;
}

/** Like {@link readAtMost}, without blocking the calling thread. */
export async function readAtMostAsync(
  file: FileHandle,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const chunks = new ChunkCollector(maxBytes);
  while (chunks.needsMore) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    chunks.add(chunk, (await file.read(chunk)).bytesRead);
  }
  return chunks.content;
}

class ChunkCollector {
  readonly #maxBytes: number;
  readonly #read: Buffer[] = [];
  #bytes = 0;
  #isAtEnd = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get needsMore(): boolean {
    return !this.#isAtEnd && this.#bytes <= this.#maxBytes;
  }

  add(buffer: Buffer, length: number): void {
    this.#isAtEnd = length === 0;
    this.#bytes += length;
    this.#read.push(buffer.subarray(0, length));
  }

  get content(): Buffer | undefined {
    return this.#bytes > this.#maxBytes ? undefined : Buffer.concat(this.#read);
  }
}
