/**
 * Writes lines to a slow destination without blocking. Buffers lines that the destination does not accept yet, up to a
 * limit, and drops and counts lines beyond it.
 */

interface LineWriterOptions {
  /** Writes as many bytes as the destination accepts, and returns the number. */
  readonly write: (bytes: Uint8Array) => number;
  /** Calls `flush` a moment later. */
  readonly later: (flush: () => void) => void;
}

/** Enough for the lines of an operator that starts with more than a thousand tenants. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/** Writes the lines of one destination. */
export class LineWriter {
  /** Number of lines that could not be written. */
  lost = 0;
  readonly #options: LineWriterOptions;
  #buffered: Uint8Array[] = [];
  #bufferedBytes = 0;
  #isFlushScheduled = false;
  /** Whether a part of the first buffered line is written. */
  #isMidLine = false;
  /** Whether the rest of a line was lost, so that the next line needs a newline before it. */
  #isLineCut = false;

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  /** Writes or buffers a line that ends with a newline. */
  add(line: string): void {
    const bytes = Buffer.from(this.#isLineCut ? `\n${line}` : line);
    if (this.#bufferedBytes + bytes.length > MAX_BUFFERED_BYTES) {
      this.lost++;
      return;
    }
    this.#isLineCut = false;
    this.#buffered.push(bytes);
    this.#bufferedBytes += bytes.length;
    this.flush();
  }

  /** Writes the buffered lines as far as possible. Returns whether none are left. */
  flush(): boolean {
    try {
      this.#writeBuffered();
    } catch {
      // The disk is full or the pipe has no reader. Only the counter can report it.
      this.lost += this.#buffered.length;
      this.#buffered = [];
      this.#bufferedBytes = 0;
      this.#isLineCut = this.#isMidLine;
      this.#isMidLine = false;
    }
    if (this.#buffered.length > 0) this.#scheduleFlush();
    return this.#buffered.length === 0;
  }

  #writeBuffered(): void {
    for (let [line] = this.#buffered; line !== undefined; [line] = this.#buffered) {
      const written = this.#options.write(line);
      this.#bufferedBytes -= written;
      if (written < line.length) {
        this.#buffered[0] = line.subarray(written);
        this.#isMidLine ||= written > 0;
        return;
      }
      this.#buffered.shift();
      this.#isMidLine = false;
    }
  }

  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    this.#options.later(() => {
      this.#isFlushScheduled = false;
      this.flush();
    });
  }
}
