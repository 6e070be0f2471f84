/**
 * Writes the access log, on the main thread, one write at a time. Traffic never waits for it: if the disk is slow or
 * full, what does not fit into the memory set aside is dropped and counted.
 */
import { closeSync, openSync, write } from 'node:fs';
import type { Logger } from '../telemetry/log.ts';

/** What may wait for the disk. */
const WAITING_LIMIT_CHARACTERS = 8 * 1024 * 1024;

/** The log, in a file or on standard output. */
export class AccessLog {
  /** Lines that are written, and lines that are lost. */
  written = 0;
  dropped = 0;

  readonly #path: string;
  readonly #log: Logger;
  #descriptor: number | undefined;
  #wantsReopen = false;
  #waiting = '';
  #waitingCount = 0;
  #writing: Promise<void> | undefined;
  #isFailing = false;

  /** `-` is standard output. */
  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  add(lines: string, count: number): void {
    if (this.#waiting.length + lines.length > WAITING_LIMIT_CHARACTERS) {
      this.dropped += count;
      return;
    }
    this.#waiting += lines;
    this.#waitingCount += count;
    this.#writing ??= this.#writeAll();
  }

  /** Opens the file anew with the next line: it was moved away, to be rotated. */
  reopen(): void {
    this.#wantsReopen = true;
  }

  /** Writes what is waiting, and closes. */
  async close(): Promise<void> {
    await this.#writing;
    this.#closeFile();
  }

  async #writeAll(): Promise<void> {
    // Not in the caller's time: what comes in the same moment goes out in the same write.
    await Promise.resolve();
    while (this.#waitingCount > 0) {
      const lines = this.#waiting;
      const count = this.#waitingCount;
      this.#waiting = '';
      this.#waitingCount = 0;
      try {
        await this.#write(lines);
        this.written += count;
        this.#isFailing = false;
      } catch (error) {
        this.dropped += count;
        this.#wantsReopen = true;
        // Once for a disk that stays full, not for every batch.
        if (!this.#isFailing) {
          this.#log.error('the access log cannot be written; lines are dropped until it can', {
            file: this.#path,
            error,
          });
        }
        this.#isFailing = true;
      }
    }
    this.#writing = undefined;
  }

  async #write(lines: string): Promise<void> {
    const descriptor = this.#path === '-' ? STANDARD_OUTPUT : this.#openFile();
    const bytes = Buffer.from(lines);
    for (let at = 0; at < bytes.length;) at += await writeSome(descriptor, bytes, at);
  }

  #openFile(): number {
    if (this.#wantsReopen) this.#closeFile();
    this.#wantsReopen = false;
    this.#descriptor ??= openSync(this.#path, 'a', 0o640);
    return this.#descriptor;
  }

  #closeFile(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

const STANDARD_OUTPUT = 1;

/** A file may take less than it is given; how much, is the result. */
async function writeSome(descriptor: number, bytes: Buffer, at: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  write(descriptor, bytes, at, bytes.length - at, null, (error, written) => {
    if (error === null) resolve(written);
    else reject(error);
  });
  return promise;
}
