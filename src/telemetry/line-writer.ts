/**
 * Writes lines to whoever may be slow to take them, and waits for nobody: what there is no room for is kept for a while,
 * in bounds, and beyond them lost and counted.
 */

/** Options of a {@link LineWriter}. */
export interface LineWriterOptions {
  /** Writes what there is room for, and gives how many bytes that were: none, if there is no room. */
  readonly write: (bytes: Uint8Array) => number;
  /** Calls back a moment later. */
  readonly later: (flush: () => void) => void;
}

/** A thousand tenants at the start of an operator, and more. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** The lines of one destination. */
export class LineWriter {
  /** How many could not be written. */
  lost = 0;
  readonly #options: LineWriterOptions;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isComingBack = false;
  /** Half of the first that waits is written. */
  #isMidLine = false;
  /** Its other half is lost: the next line must not go on in it. */
  #isTorn = false;

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  /** Writes a line, its newline included, or keeps it. */
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

  /** Writes what waits, as far as there is room. Gives whether nothing waits any more. */
  flush(): boolean {
    try {
      this.#writeWaiting();
    } catch {
      // A disk that is full, or a reader that is gone: there is nobody to tell but by the count.
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
