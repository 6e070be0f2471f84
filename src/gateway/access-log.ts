/**
 * Writes the access log, on the main thread, one write at a time. Traffic never waits for it: if the disk is slow or
 * full, what does not fit into the memory set aside is dropped and counted.
 */
import { closeSync, constants, fstatSync, openSync, write } from 'node:fs';
import type { Logger } from '../telemetry/log.ts';

/** What may wait for the disk. */
const WAITING_LIMIT_CHARACTERS = 8 * 1024 * 1024;

/** How long the end of the gateway waits for what is not written yet. */
const CLOSE_LIMIT_MS = 1000;

/** A pipe that is full is tried again after this time. */
const FULL_PIPE_MS = 10;

/**
 * O_NONBLOCK is for a FIFO: to open one that nobody reads is an error then (ENXIO), not a wait without end on the main
 * thread; and a write to a full one comes back. Regular files do not know the flag.
 */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK;

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

  /** Opens the file now, so that one that cannot be had is reported before the first line is lost. */
  open(): void {
    try {
      this.#openFile();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Opens the file anew with the next line: it was moved away, to be rotated. */
  reopen(): void {
    this.#wantsReopen = true;
  }

  /** Writes what is waiting, if that is possible in time, and closes. */
  async close(limitMs = CLOSE_LIMIT_MS): Promise<void> {
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(() => limit.resolve(), limitMs);
    await Promise.race([this.#writing, limit.promise]);
    clearTimeout(timer);
    if (this.#writing === undefined) {
      this.#closeFile();
    } else {
      this.#log.warn('the access log was not written to its end in time; lines are lost', {
        file: this.#path,
        limitMs,
      });
    }
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
        this.#failed(error);
      }
    }
    this.#writing = undefined;
  }

  /** Said once for a disk that stays full, not for every batch. */
  #failed(error: unknown): void {
    if (!this.#isFailing) {
      this.#log.error('the access log cannot be written; lines are dropped until it can', {
        file: this.#path,
        error,
      });
    }
    this.#isFailing = true;
  }

  async #write(lines: string): Promise<void> {
    const descriptor = this.#openFile();
    const bytes = Buffer.from(this.#needsNewline(descriptor) ? `\n${lines}` : lines);
    for (let at = 0; at < bytes.length;) {
      const written = await this.#writeSome(descriptor, bytes, at);
      if (written === 0) continue;
      at += written;
      this.#isMidLine = bytes[at - 1] !== NEWLINE;
    }
  }

  /** Not at the start of a new file, in case the one with the half line was moved away. */
  #needsNewline(descriptor: number): boolean {
    if (!this.#isMidLine) return false;
    const stats = fstatSync(descriptor);
    return !stats.isFile() || stats.size > 0;
  }

  #openFile(): number {
    if (this.#wantsReopen) this.#closeFile();
    this.#wantsReopen = false;
    this.#descriptor ??=
      this.#path === '-'
        ? openStandardOutput()
        : openSync(this.#path, FLAGS | constants.O_CREAT, 0o640);
    return this.#descriptor;
  }

  #closeFile(): void {
    if (this.#descriptor !== undefined && this.#descriptor !== STANDARD_OUTPUT) {
      closeSync(this.#descriptor);
    }
    this.#descriptor = undefined;
  }
}

const STANDARD_OUTPUT = 1;

/**
 * A pipe is opened once more: the flag would else be set for all who share it, whoever started us among them. Where that
 * is not allowed, and for a terminal or a socket, a write may stay in the thread pool, and close() does not wait for it.
 */
function openStandardOutput(): number {
  if (!fstatSync(STANDARD_OUTPUT).isFIFO()) return STANDARD_OUTPUT;
  try {
    return openSync(`/proc/self/fd/${STANDARD_OUTPUT}`, FLAGS);
  } catch {
    return STANDARD_OUTPUT;
  }
}

/** A file may take less than it is given; how much, is the result. Nothing, after a pause, if it is a full pipe. */
async function writeToSystem(descriptor: number, bytes: Buffer, at: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  write(descriptor, bytes, at, bytes.length - at, null, (error, written) => {
    if (error === null) resolve(written);
    else if (error.code === 'EAGAIN') setTimeout(() => resolve(0), FULL_PIPE_MS);
    else reject(error);
  });
  return promise;
}
