/**
 * Writes the access log, on the main thread, one write at a time. Traffic never waits for it: if the disk is slow or
 * full, what does not fit into the memory set aside is dropped and counted.
 */
import { closeSync, fstatSync, openSync, write } from 'node:fs';
import type { Logger } from '../telemetry/log.ts';

/** What may wait for the disk. */
const WAITING_LIMIT_CHARACTERS = 8 * 1024 * 1024;

const NEWLINE = 0x0a;

/** Writes bytes from a place on, and gives how many it wrote: perhaps not all. */
export type Write = (descriptor: number, bytes: Buffer, at: number) => Promise<number>;

/** The log, in a file or on standard output. */
export class AccessLog {
  /** Lines that are written, and lines that are lost. */
  written = 0;
  dropped = 0;

  readonly #path: string;
  readonly #log: Logger;
  readonly #writeSome: Write;
  #descriptor: number | undefined;
  #wantsReopen = false;
  #waiting = '';
  #waitingCount = 0;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  /** An error came after half a line: the next one must not go on in it. */
  #isMidLine = false;

  /** `-` is standard output. `writeSome` is the system's, unless a test has a disk of its own. */
  constructor(path: string, log: Logger, writeSome: Write = writeToSystem) {
    this.#path = path;
    this.#log = log;
    this.#writeSome = writeSome;
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
        // Some of them may be in the file, before the error; which, is not worth knowing.
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
    const bytes = Buffer.from(this.#needsNewline(descriptor) ? `\n${lines}` : lines);
    for (let at = 0; at < bytes.length;) {
      at += await this.#writeSome(descriptor, bytes, at);
      this.#isMidLine = bytes[at - 1] !== NEWLINE;
    }
  }

  /** Not at the start of a new file, in case the one with the half line was moved away. */
  #needsNewline(descriptor: number): boolean {
    return this.#isMidLine && (this.#path === '-' || fstatSync(descriptor).size > 0);
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
async function writeToSystem(descriptor: number, bytes: Buffer, at: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  write(descriptor, bytes, at, bytes.length - at, null, (error, written) => {
    if (error === null) resolve(written);
    else reject(error);
  });
  return promise;
}
