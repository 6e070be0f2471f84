/**
 * Watches a file that the program reloads on changes: routes, keys, certificates.
 *
 * The file may be written in place, replaced by a rename, or be a link into a Kubernetes volume, where `..data` is
 * swapped and the name itself never changes. Therefore the directory is watched and the content is compared. Polling
 * every few seconds finds changes behind links to other directories and on file systems without events.
 */
import { watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import { systemClock, type Clock } from '../clock/clock.ts';
import { readWatched, readWatchedAsync } from './read-watched.ts';
import { Debounce } from './debounce.ts';

interface WatchedFileOptions {
  /** Called with the new content after each change. Errors it throws are passed to onError. */
  readonly onContent: (bytes: Buffer) => void;
  /**
   * Called once for each new error: the file cannot be read, or its directory cannot be watched. Watching continues.
   * When the file can be read again, its content is reported even if it has not changed.
   */
  readonly onError: (error: Error) => void;
  /**
   * The content that the caller has already read, so that no change since then is missed. Default: the content at the
   * time of the call.
   */
  readonly initialContent?: Uint8Array | undefined;
  /** Clock for polling every {@link POLL_MS}. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** A running watch. */
export interface WatchedFile {
  /** Stops the watch. No callback is called after this. */
  stop(): void;
}

/** Polling interval, for changes without an event. */
export const POLL_MS = 5000;

/** A write in place causes several events. The file is read this long after the last event. */
const DEBOUNCE_MS = 5;
/** Maximum delay after the first event, for files that are written without a pause. */
const DEBOUNCE_LIMIT_MS = 50;

/** Calls back when the content of a file changes. The caller reads the initial content with readWatched(). */
export function watchFile(path: string, options: WatchedFileOptions): WatchedFile {
  return new Watch(path, options);
}

class Watch implements WatchedFile {
  readonly #path: string;
  readonly #options: WatchedFileOptions;
  readonly #stopPolling: () => void;
  readonly #events = new Debounce({
    waitMs: DEBOUNCE_MS,
    maxWaitMs: DEBOUNCE_LIMIT_MS,
    action: () => this.#check(),
  });
  #watcher: FSWatcher | undefined;
  /** The content reported last. Undefined after an error. */
  #content: Uint8Array | undefined;
  #lastError: string | undefined;
  /** Why the directory is not watched, and whether that was reported. */
  #unwatched: { readonly error: unknown; isReported: boolean } | undefined;
  #isReading = false;
  #changedMeanwhile = false;
  #stopped = false;

  constructor(path: string, options: WatchedFileOptions) {
    this.#path = path;
    this.#options = options;
    this.#watchDirectory();
    this.#content = options.initialContent ?? this.#readInitialContent();
    this.#check();
    this.#stopPolling = (options.clock ?? systemClock).every(POLL_MS, () => {
      if (this.#watcher === undefined) this.#watchDirectory();
      this.#check();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#stopPolling();
    this.#watcher?.close();
    this.#events.stop();
  }

  /**
   * Watches the directory. Events of other files arrive too: reading the file is cheaper than tracking the links it
   * depends on.
   */
  #watchDirectory(): void {
    if (this.#stopped) return;
    this.#watcher?.close();
    this.#watcher = undefined;
    try {
      const watcher = watch(dirname(this.#path), { persistent: false }, this.#events.trigger);
      watcher.on('error', () => {
        // The directory was removed, perhaps only for a moment. The next poll watches it again.
        watcher.close();
        if (this.#watcher === watcher) this.#watcher = undefined;
      });
      this.#watcher = watcher;
      this.#unwatched = undefined;
    } catch (error) {
      this.#unwatched = { error, isReported: this.#unwatched?.isReported ?? false };
    }
  }

  #check(): void {
    if (this.#isReading) {
      this.#changedMeanwhile = true;
      return;
    }
    this.#isReading = true;
    void this.#read().finally(() => {
      this.#isReading = false;
      if (!this.#changedMeanwhile || this.#stopped) return;
      this.#changedMeanwhile = false;
      this.#check();
    });
  }

  async #read(): Promise<void> {
    let bytes: Buffer;
    try {
      bytes = await readWatchedAsync(this.#path);
    } catch (error) {
      this.#content = undefined;
      this.#report(error);
      // The directory may have been replaced. The current watcher would then get no more events.
      this.#watchDirectory();
      return;
    }
    this.#reportUnwatched();
    if (this.#stopped || isSame(this.#content, bytes)) return;
    this.#content = bytes;
    this.#lastError = undefined;
    try {
      this.#options.onContent(bytes);
    } catch (error) {
      this.#report(error);
    }
  }

  #readInitialContent(): Uint8Array | undefined {
    try {
      return readWatched(this.#path);
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  /** Reports that the directory cannot be watched. If the file cannot be read, that error is reported instead. */
  #reportUnwatched(): void {
    if (this.#stopped || this.#unwatched === undefined || this.#unwatched.isReported) return;
    this.#unwatched.isReported = true;
    this.#options.onError(asError(this.#unwatched.error));
  }

  /** Reports each error once, not once per poll. */
  #report(thrown: unknown): void {
    if (this.#stopped) return;
    const error = asError(thrown);
    if (error.message === this.#lastError) return;
    this.#lastError = error.message;
    this.#options.onError(error);
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function isSame(known: Uint8Array | undefined, bytes: Uint8Array): boolean {
  return known !== undefined && Buffer.compare(known, bytes) === 0;
}
