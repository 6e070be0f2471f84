/**
 * A value that is parsed from files, such as a certificate with its key, and reloaded when they change. While the files
 * are invalid, the last valid value stays in use, and the failure is reported.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { readWatched, UnusableFile } from '../../files/read-watched.ts';
import { watchFile, type WatchedFile } from '../../files/watched-file.ts';

/** Options of {@link LiveFiles}. */
export interface LiveFilesOptions<Value> {
  readonly paths: readonly string[];
  /** Parses the contents, in the order of the paths. Throws an Error with a message for the user. */
  readonly parse: (contents: readonly Buffer[]) => Value;
  /** Called when the files have changed and the new value is in use. */
  readonly onReload: (value: Value) => void;
  /** Called when the last valid content is back after invalid content. */
  readonly onRecovered: () => void;
  /** Called when the files have changed to invalid content. */
  readonly onError: (error: Error) => void;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

/** Time before a mismatched pair is read again and reported, because two files are not replaced atomically. */
export const RETRY_MS = 500;

/** The error for a file that cannot be read. The message is for the user. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
  readonly path: string;

  constructor(path: string, cause: Error & { readonly code?: unknown }) {
    const hasMessage = cause instanceof UnusableFile;
    const code = typeof cause.code === 'string' ? cause.code : cause.message;
    super(hasMessage ? cause.message : `${path} cannot be read (${code}); ${adviceFor(code)}`, {
      cause,
    });
    this.path = path;
  }
}

/** The current value, and counts of reloads. */
export class LiveFiles<Value> {
  readonly #options: LiveFilesOptions<Value>;
  readonly #watches: WatchedFile[] = [];
  readonly #clock: Clock;
  #cancelRetry = () => {};
  #contents: readonly Buffer[];
  #value: Value;
  #reloads = 0;
  #failures = 0;
  #isCurrent = true;

  /** Reads the files. @throws UnreadableFile, or what `parse` throws, because there is no last valid value yet. */
  constructor(options: LiveFilesOptions<Value>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#contents = this.#read();
    this.#value = options.parse(this.#contents);
  }

  get value(): Value {
    return this.#value;
  }

  /** Number of successful reloads. */
  get reloads(): number {
    return this.#reloads;
  }

  /** Number of failed reloads. */
  get failures(): number {
    return this.#failures;
  }

  /** Whether the value matches the current files. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** Starts to watch the files. */
  watch(): void {
    for (const [index, path] of this.#options.paths.entries()) {
      const initialContent = this.#contents[index];
      this.#watches.push(
        watchFile(path, {
          initialContent,
          clock: this.#clock,
          onContent: () => this.#changed(),
          onError: (error) => this.#unreadable(error),
        }),
      );
    }
  }

  stop(): void {
    this.#cancelRetry();
    for (const watch of this.#watches.splice(0)) watch.stop();
  }

  /** Reads all files again, because several may have changed before this event. */
  #changed(): void {
    this.#cancelRetry();
    const error = this.#reload();
    if (error === undefined) return;
    this.#cancelRetry = this.#clock.after(RETRY_MS, () => {
      const secondError = this.#reload();
      if (secondError !== undefined) this.#fail(secondError);
    });
  }

  /** Handles a file that cannot be read or watched. If only the watch has failed, the value still matches the files. */
  #unreadable(error: Error): void {
    this.#fail(error);
    try {
      this.#isCurrent = this.#isUnchanged(this.#read());
    } catch {
      this.#isCurrent = false;
    }
  }

  #reload(): Error | undefined {
    try {
      const contents = this.#read();
      if (this.#isUnchanged(contents)) {
        if (!this.#isCurrent) this.#options.onRecovered();
        this.#isCurrent = true;
        return undefined;
      }
      this.#value = this.#options.parse(contents);
      this.#contents = contents;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
    this.#isCurrent = true;
    this.#reloads++;
    this.#options.onReload(this.#value);
    return undefined;
  }

  #read(): readonly Buffer[] {
    return this.#options.paths.map(readContent);
  }

  #isUnchanged(contents: readonly Buffer[]): boolean {
    return contents.every((content, index) => this.#contents[index]?.equals(content) === true);
  }

  #fail(error: Error): void {
    this.#isCurrent = false;
    this.#failures++;
    this.#options.onError(error);
  }
}

/** @throws UnreadableFile */
function readContent(path: string): Buffer {
  try {
    return readWatched(path);
  } catch (error) {
    throw new UnreadableFile(path, error instanceof Error ? error : new Error(String(error)));
  }
}

function adviceFor(code: string): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return 'grant the user of this process read access';
    case 'EMFILE':
    case 'ENFILE':
      return 'raise the limit of open files';
    default:
      return 'specify an existing file';
  }
}
