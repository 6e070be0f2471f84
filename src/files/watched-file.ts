/**
 * A file whose changes matter while the program runs: routes, keys, certificates.
 *
 * It may be written in place, replaced by a rename, or be a link into a Kubernetes volume, where `..data` is swapped
 * and the name itself never changes. So it is the directory that is watched, and the content that is compared. What
 * happens behind a link elsewhere, and on file systems without events, is found by a look every few seconds.
 */
import { watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import { systemClock, type Clock } from '../clock/clock.ts';
import { readWatched, readWatchedLater } from './read-watched.ts';
import { Debounce } from './debounce.ts';

/** Options of {@link watchFile}. */
export interface WatchedFileOptions {
  /** Called with the new content each time it has changed. What it throws goes to onError. */
  readonly onContent: (bytes: Buffer) => void;
  /**
   * The file cannot be read, or it can and its directory cannot be watched. Said once for each new cause; watching goes
   * on, and when the file can be read again its content is reported, even if it is the same as before.
   */
  readonly onError: (error: Error) => void;
  /** What the caller has read already, so that no change is missed between. Default: the content at the call. */
  readonly known?: Uint8Array | undefined;
  /** Drives the look every {@link LOOK_MS}. Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

/** A watch that runs. */
export interface WatchedFile {
  /** No call comes after this one. */
  stop(): void;
}

/** The safety net, for changes that no event tells. */
export const LOOK_MS = 5000;

/** A write in place causes several events. The file is read this long after the last one. */
const DEBOUNCE_MS = 5;
/** Maximum delay after the first event, for files that are written without a pause. */
const DEBOUNCE_LIMIT_MS = 50;

/** Calls back when the content of a file changes. The caller reads the first content itself, by readWatched(). */
export function watchFile(path: string, options: WatchedFileOptions): WatchedFile {
  return new Watch(path, options);
}

class Watch implements WatchedFile {
  readonly #path: string;
  readonly #options: WatchedFileOptions;
  readonly #stopLooking: () => void;
  readonly #events = new Debounce({
    waitMs: DEBOUNCE_MS,
    maxWaitMs: DEBOUNCE_LIMIT_MS,
    action: () => this.#look(),
  });
  #watcher: FSWatcher | undefined;
  /** What was reported last; absent if that was an error. */
  #content: Uint8Array | undefined;
  #lastError: string | undefined;
  /** Why there is no watch, and whether that was said. */
  #unwatched: { readonly error: unknown; isReported: boolean } | undefined;
  #isReading = false;
  #changedMeanwhile = false;
  #stopped = false;

  constructor(path: string, options: WatchedFileOptions) {
    this.#path = path;
    this.#options = options;
    this.#watchDirectory();
    this.#content = options.known ?? this.#firstContent();
    this.#look();
    this.#stopLooking = (options.clock ?? systemClock).every(LOOK_MS, () => {
      if (this.#watcher === undefined) this.#watchDirectory();
      this.#look();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#stopLooking();
    this.#watcher?.close();
    this.#events.stop();
  }

  /** Events of the neighbours come too: reading the file is cheaper than knowing which links it hangs on. */
  #watchDirectory(): void {
    if (this.#stopped) return;
    this.#watcher?.close();
    this.#watcher = undefined;
    try {
      const watcher = watch(dirname(this.#path), { persistent: false }, this.#events.trigger);
      watcher.on('error', () => {
        // The directory is gone, perhaps for a moment: the next look begins a new watch.
        watcher.close();
        if (this.#watcher === watcher) this.#watcher = undefined;
      });
      this.#watcher = watcher;
      this.#unwatched = undefined;
    } catch (error) {
      this.#unwatched = { error, isReported: this.#unwatched?.isReported ?? false };
    }
  }

  #look(): void {
    if (this.#isReading) {
      this.#changedMeanwhile = true;
      return;
    }
    this.#isReading = true;
    void this.#read().finally(() => {
      this.#isReading = false;
      if (!this.#changedMeanwhile || this.#stopped) return;
      this.#changedMeanwhile = false;
      this.#look();
    });
  }

  async #read(): Promise<void> {
    let bytes: Buffer;
    try {
      bytes = await readWatchedLater(this.#path);
    } catch (error) {
      this.#content = undefined;
      this.#report(error);
      // Perhaps the whole directory was replaced: a watch of the old one would hear nothing more.
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

  #firstContent(): Uint8Array | undefined {
    try {
      return readWatched(this.#path);
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  /** Only of a file that can be read: for one that cannot, its own error says it all. */
  #reportUnwatched(): void {
    if (this.#stopped || this.#unwatched === undefined || this.#unwatched.isReported) return;
    this.#unwatched.isReported = true;
    this.#options.onError(asError(this.#unwatched.error));
  }

  /** A file that is missing for an hour is one report, not one for each look. */
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
