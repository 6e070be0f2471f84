/**
 * A value made of files, such as a certificate with its key, that follows the files while the program runs. A state of
 * the files that makes no sense leaves the last good value in force, and is reported.
 */
import { readFileSync } from 'node:fs';
import { systemClock, type Clock } from '../../engine/clock.ts';
import { watchFile, type WatchedFile } from '../../files/watched-file.ts';

/** Options of {@link LiveFiles}. */
export interface LiveFilesOptions<Value> {
  readonly paths: readonly string[];
  /** Makes the value of the contents, in the order of the paths. Throws with a sentence for the user. */
  readonly parse: (contents: readonly Buffer[]) => Value;
  /** The files have changed, and the new value is in force. */
  readonly onSwap: (value: Value) => void;
  /** The files have changed to something that cannot be used. */
  readonly onError: (error: Error) => void;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

/**
 * Two files are not replaced in one moment. A pair that does not fit is looked at once more after this time, and only
 * then an error.
 */
const SECOND_LOOK_MS = 500;

/** The present value, and how the changes went. */
export class LiveFiles<Value> {
  readonly #options: LiveFilesOptions<Value>;
  readonly #watches: WatchedFile[] = [];
  #secondLook: ReturnType<typeof setTimeout> | undefined;
  #contents: readonly Buffer[];
  #value: Value;
  #swaps = 0;
  #failures = 0;

  /** Reads the files. @throws the system's error or that of `parse`: at the start there is no last good value. */
  constructor(options: LiveFilesOptions<Value>) {
    this.#options = options;
    this.#contents = this.#read();
    this.#value = options.parse(this.#contents);
  }

  get value(): Value {
    return this.#value;
  }

  /** How often a new value came into force. */
  get swaps(): number {
    return this.#swaps;
  }

  /** How often the files changed to something of no use. */
  get failures(): number {
    return this.#failures;
  }

  /** From now on changes are followed. */
  watch(): void {
    const clock = this.#options.clock ?? systemClock;
    for (const [index, path] of this.#options.paths.entries()) {
      const known = this.#contents[index];
      this.#watches.push(
        watchFile(path, {
          known,
          clock,
          onContent: () => this.#changed(),
          onError: (error) => this.#fail(error),
        }),
      );
    }
  }

  stop(): void {
    clearTimeout(this.#secondLook);
    for (const watch of this.#watches.splice(0)) watch.stop();
  }

  /** All files are read anew: the others may have changed too, and be reported only later. */
  #changed(): void {
    clearTimeout(this.#secondLook);
    const error = this.#take();
    if (error === undefined) return;
    this.#secondLook = setTimeout(() => {
      const still = this.#take();
      if (still !== undefined) this.#fail(still);
    }, SECOND_LOOK_MS);
    this.#secondLook.unref();
  }

  #take(): Error | undefined {
    try {
      const contents = this.#read();
      if (contents.every((content, index) => this.#contents[index]?.equals(content) === true)) {
        return undefined;
      }
      this.#value = this.#options.parse(contents);
      this.#contents = contents;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
    this.#swaps++;
    this.#options.onSwap(this.#value);
    return undefined;
  }

  #read(): readonly Buffer[] {
    return this.#options.paths.map((path) => readFileSync(path));
  }

  #fail(error: Error): void {
    this.#failures++;
    this.#options.onError(error);
  }
}
