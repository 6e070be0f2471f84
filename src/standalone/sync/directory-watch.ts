/**
 * Watches several directories and reports that something has changed in one of them. Events can get lost, so callers
 * must poll as well.
 */
import { statSync, watch, type FSWatcher } from 'node:fs';
import { Debounce } from '../../files/debounce.ts';

/** Limit on the watches. The kernel allows each user some thousands. */
const MAX_WATCHES = 1_000;

/** A write causes several events. They are reported this long after the last one. */
const DEBOUNCE_MS = 50;
/** Maximum delay after the first event, for directories that change without a pause. */
const DEBOUNCE_LIMIT_MS = 500;

/** A set of watched directories. */
export class DirectoryWatch {
  readonly #events: Debounce;
  /** Watchers by identity and path: a replaced directory needs a new watcher. */
  readonly #watchers = new Map<string, FSWatcher>();
  #isStopped = false;

  constructor(onEvent: () => void) {
    this.#events = new Debounce({
      waitMs: DEBOUNCE_MS,
      maxWaitMs: DEBOUNCE_LIMIT_MS,
      action: onEvent,
    });
  }

  /** Watches these directories from now on, and no others. */
  watch(directories: readonly string[]): void {
    if (this.#isStopped) return;
    const wanted = new Map<string, string>(
      [...new Set(directories)].slice(0, MAX_WATCHES).flatMap((path) => {
        const identity = identityOf(path);
        return identity === undefined ? [] : [[`${identity} ${path}`, path] as const];
      }),
    );
    for (const [key, watcher] of this.#watchers) {
      if (wanted.has(key)) continue;
      watcher.close();
      this.#watchers.delete(key);
    }
    for (const [key, path] of wanted) if (!this.#watchers.has(key)) this.#open(key, path);
  }

  /** Stops all watches. No callback is called after this. */
  stop(): void {
    this.#isStopped = true;
    this.#events.stop();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #open(key: string, path: string): void {
    try {
      const watcher = watch(path, { persistent: false }, this.#events.trigger);
      watcher.on('error', () => {
        // The directory was removed, perhaps only for a moment. The next poll finds out.
        watcher.close();
        this.#watchers.delete(key);
      });
      this.#watchers.set(key, watcher);
    } catch {
      // The directory is gone or the watches are exhausted. Polling has to suffice.
    }
  }
}

/**
 * Returns the identity of a directory. It includes the creation time, because a new directory often gets the inode of a
 * removed one.
 */
function identityOf(path: string): string | undefined {
  try {
    const { dev, ino, birthtimeNs } = statSync(path, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return undefined; // missing or not accessible: polling has to suffice
  }
}
