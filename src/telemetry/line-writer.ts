/**
 * Writes lines to a destination that may be slow, without blocking. Lines that the destination does not take are
 * buffered up to a limit, and dropped and counted beyond it.
 */

/** Options of a {@link LineWriter}. */
export interface LineWriterOptions {
  /** Writes as many bytes as the destination takes and returns the number, or 0 if it takes none. */
  readonly write: (bytes: Uint8Array) => number;
  /** Calls `flush` a moment later. */
  readonly later: (flush: () => void) => void;
}

/** Enough for the lines of an operator that starts with more than a thousand tenants. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Writes the lines of one destination. */
export class LineWriter {
  /** Number of lines that could not be written. */
  lost = 0;
  readonly #options: LineWriterOptions;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isComingBack = false;
  /** Whether a part of the first waiting line is written. */
  #isMidLine = false;
  /** Whether the rest of a line was lost, so that the next line needs a newline before it. */
  #isTorn = false;

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  /** Writes or buffers a line that ends with a newline. */
  add(line: string): void {
    const bytes = Buffer.from(this.#isTorn ? `\n${line}` : line);
    if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) {
      this.lost++;
      return;
    }
    this.#isTorn = false;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.flush();
  }

  /** Writes the waiting lines as far as possible. Returns whether none are left. */
  flush(): boolean {
    try {
      this.#writeWaiting();
    } catch {
      // The disk is full or the reader is gone. The count is the only way to report it.
      this.lost += this.#waiting.length;
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#isTorn = this.#isMidLine;
      this.#isMidLine = false;
    }
    if (this.#waiting.length > 0) this.#comeBack();
    return this.#waiting.length === 0;
  }

  #writeWaiting(): void {
    for (let [line] = this.#waiting; line !== undefined; [line] = this.#waiting) {
      const written = this.#options.write(line);
      this.#waitingBytes -= written;
      if (written < line.length) {
        this.#waiting[0] = line.subarray(written);
        this.#isMidLine ||= written > 0;
        return;
      }
      this.#waiting.shift();
      this.#isMidLine = false;
    }
  }

  #comeBack(): void {
    if (this.#isComingBack) return;
    this.#isComingBack = true;
    this.#options.later(() => {
      this.#isComingBack = false;
      this.flush();
    });
  }
}
