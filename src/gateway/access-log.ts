/**
 * Writes the access log on the main thread, one write at a time. Traffic never waits for the log: if the disk is slow
 * or full, the lines that do not fit into the buffer are dropped and counted.
 */
import { closeSync, constants, fstatSync, openSync, write } from 'node:fs';
import type { Logger } from '../telemetry/log.ts';

/** Maximum size of the lines that are not written yet. */
const MAX_PENDING_CHARACTERS = 8 * 1024 * 1024;

/** How long {@link AccessLog.close} waits for the lines that are not written yet. */
const CLOSE_LIMIT_MS = 1000;

/** How long to wait before the next write to a full pipe. */
const FULL_PIPE_MS = 10;

/**
 * O_NONBLOCK matters for a FIFO. Opening a FIFO without a reader fails with ENXIO instead of blocking the main thread,
 * and a write to a full FIFO returns. Regular files ignore the flag.
 */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK;

const NEWLINE = 0x0a;

/** Writes bytes from an offset on and returns how many it wrote, which may be fewer than given. */
type Write = (descriptor: number, bytes: Buffer, at: number) => Promise<number>;

/** The access log, in a file or on standard output. */
export class AccessLog {
  /** Number of lines written, and of lines lost. */
  written = 0;
  dropped = 0;

  readonly #path: string;
  readonly #log: Logger;
  readonly #writePart: Write;
  #descriptor: number | undefined;
  #wantsReopen = false;
  #pending = '';
  #pendingCount = 0;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  /** Whether the last write failed in the middle of a line, so that the next line needs a newline before it. */
  #isMidLine = false;

  /** `-` means standard output. Tests replace `writePart`. */
  constructor(path: string, log: Logger, writePart: Write = writeToSystem) {
    this.#path = path;
    this.#log = log;
    this.#writePart = writePart;
  }

  add(lines: string, count: number): void {
    if (this.#pending.length + lines.length > MAX_PENDING_CHARACTERS) {
      this.dropped += count;
      return;
    }
    this.#pending += lines;
    this.#pendingCount += count;
    this.#writing ??= this.#writeAll();
  }

  /** Opens the file now, so that an unusable path is reported before the first line is lost. */
  open(): void {
    try {
      this.#openFile();
    } catch (error) {
      this.#logFailure(error);
    }
  }

  /** Reopens the file before the next line. Call it after log rotation. */
  reopen(): void {
    this.#wantsReopen = true;
  }

  /** Writes the pending lines within the time limit and closes the file. */
  async close(limitMs = CLOSE_LIMIT_MS): Promise<void> {
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(() => limit.resolve(), limitMs);
    await Promise.race([this.#writing, limit.promise]);
    clearTimeout(timer);
    if (this.#writing === undefined) {
      this.#closeFile();
    } else {
      this.#log.warn('access log not fully written in time, lines are lost', {
        file: this.#path,
        limitMs,
      });
    }
  }

  async #writeAll(): Promise<void> {
    // Deferred to a microtask, so that lines added together go out in one write.
    await Promise.resolve();
    while (this.#pendingCount > 0) {
      const lines = this.#pending;
      const count = this.#pendingCount;
      this.#pending = '';
      this.#pendingCount = 0;
      try {
        await this.#write(lines);
        this.written += count;
        this.#isFailing = false;
      } catch (error) {
        // Some of these lines may be in the file. They count as dropped anyway.
        this.dropped += count;
        this.#wantsReopen = true;
        this.#logFailure(error);
      }
    }
    this.#writing = undefined;
  }

  /** Logs an error once per outage, not once per batch. */
  #logFailure(error: unknown): void {
    if (!this.#isFailing) {
      this.#log.error('cannot write access log, dropping lines', {
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
      const written = await this.#writePart(descriptor, bytes, at);
      if (written === 0) continue;
      at += written;
      this.#isMidLine = bytes[at - 1] !== NEWLINE;
    }
  }

  /** Whether to begin with a newline. A new, empty file needs none: log rotation has moved the partial line away. */
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
 * Opens a pipe on standard output again, because O_NONBLOCK would otherwise apply to every process that shares the
 * pipe, including the parent. If that is not allowed, and for a terminal or a socket, a write may block in the thread
 * pool, and close() does not wait for it.
 */
function openStandardOutput(): number {
  if (!fstatSync(STANDARD_OUTPUT).isFIFO()) return STANDARD_OUTPUT;
  try {
    return openSync(`/proc/self/fd/${STANDARD_OUTPUT}`, FLAGS);
  } catch {
    return STANDARD_OUTPUT;
  }
}

/** Writes to the system and returns the number of bytes written. For a full pipe it returns 0 after a pause. */
async function writeToSystem(descriptor: number, bytes: Buffer, at: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  write(descriptor, bytes, at, bytes.length - at, null, (error, written) => {
    if (error === null) resolve(written);
    else if (error.code === 'EAGAIN') setTimeout(() => resolve(0), FULL_PIPE_MS);
    else reject(error);
  });
  return promise;
}
