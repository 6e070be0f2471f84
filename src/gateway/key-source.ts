/**
 * Loads the key file and reloads it on changes, without a restart. If a new version is invalid, the last valid keys
 * stay in use.
 */
import { readWatched } from '../files/read-watched.ts';
import { watchFile, type WatchedFile } from '../files/watched-file.ts';
import type { Logger } from '../telemetry/log.ts';
import { parseKeys } from '../wire/master-keys.ts';

/** Watches the key file and passes on its keys. */
export class KeySource {
  /** Why the current content of the file is not in use. Undefined if it is in use. */
  problem: string | undefined = 'no keys have been loaded yet';
  /** Whether valid keys were ever loaded. */
  hasKeys = false;

  readonly #path: string;
  readonly #log: Logger;
  readonly #onKeys: (masterKeys: readonly Uint8Array[]) => void;
  #watched: WatchedFile | undefined;

  constructor(path: string, log: Logger, onKeys: (masterKeys: readonly Uint8Array[]) => void) {
    this.#path = path;
    this.#log = log;
    this.#onKeys = onKeys;
  }

  /** Loads the file, valid or not, and watches it. */
  start(): void {
    let content: Buffer | undefined;
    try {
      content = readWatched(this.#path);
    } catch {
      content = undefined; // the watch gets the same error and reports it
    }
    this.#watched = watchFile(this.#path, {
      onContent: (bytes) => this.#load(bytes),
      onError: (error) => this.#loadFailed(error),
      initialContent: content,
    });
    if (content !== undefined) this.#load(content);
  }

  stop(): void {
    this.#watched?.stop();
  }

  #load(bytes: Buffer): void {
    try {
      const keys = parseKeys(bytes.toString('latin1'), this.#path);
      this.#onKeys(keys);
      this.problem = undefined;
      this.hasKeys = true;
      this.#log.info('keys loaded', { file: this.#path, keys: keys.length });
    } catch (error) {
      this.#loadFailed(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #loadFailed(error: Error): void {
    this.problem = `the key file cannot be loaded (${error.message})`;
    this.#log.error(
      this.hasKeys
        ? 'cannot load key file, keeping the previous keys'
        : 'cannot load key file, rejecting all signed headers',
      { file: this.#path, error },
    );
  }
}
