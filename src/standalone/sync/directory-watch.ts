/**
 * Tells that something happened in one of several directories. Not what, and not for sure: whoever relies on it looks now
 * and then all the same.
 */
import { statSync, watch, type FSWatcher } from 'node:fs';
import { Debounce } from '../../files/debounce.ts';

/** Each costs the kernel a watch, of which a user has some thousands. */
const MAX_WATCHES = 1_000;

/** A write causes several events. They are reported this long after the last one. */
const DEBOUNCE_MS = 50;
/** Maximum delay after the first event, for directories that change without a pause. */
const DEBOUNCE_LIMIT_MS = 500;

/** The directories that are watched. */
export class DirectoryWatch {
  readonly #events: Debounce;
  /** By identity and path: one that is replaced is another. */
  readonly #watchers = new Map<string, FSWatcher>();
  #isStopped = false;

  constructor(onEvent: () => void) {
    this.#events = new Debounce({
      waitMs: DEBOUNCE_MS,
      maxWaitMs: DEBOUNCE_LIMIT_MS,
      action: onEvent,
    });
  }

  /** Watches these from now on, and no others. */
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

  /** No call comes after this one. */
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
        // It is gone, perhaps for a moment: the next look finds out.
        watcher.close();
        this.#watchers.delete(key);
      });
      this.#watchers.set(key, watcher);
    } catch {
      // No such directory any more, or no watch left: looking now and then has to do.
    }
  }
}

/** With the time of its birth: the next directory often gets the number of the one that went. */
function identityOf(path: string): string | undefined {
  try {
    const { dev, ino, birthtimeNs } = statSync(path, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return undefined; // there is none, or it is closed to us: looking now and then has to do
  }
}
