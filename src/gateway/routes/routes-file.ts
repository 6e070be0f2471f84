/**
 * Loads the routes file and reloads it on changes. If a new version is invalid, the last valid version stays active.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { readWatched } from '../../files/read-watched.ts';
import { watchFile, type WatchedFile } from '../../files/watched-file.ts';
import type { Route } from './route.ts';
import {
  initialLoadState,
  RETRY_MS,
  waitingMessage,
  type LoadState,
  type RoutesFeed,
  type RoutesSink,
} from './routes-feed.ts';
import { parseRoutes, RoutesError } from './routes-text.ts';

interface RoutesFileOptions {
  readonly path: string;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** A valid version of the file. */
interface Version {
  readonly routes: readonly Route[];
  /** When the load of this version began. */
  readonly startMs: number;
}

/** Watches the routes file and loads it. */
export class RoutesFile implements RoutesFeed {
  readonly state: LoadState = initialLoadState();

  readonly #options: RoutesFileOptions;
  readonly #sink: RoutesSink;
  #watched: WatchedFile | undefined;
  /**
   * The end of the last load. Loads run one after the other, because the next version may arrive during a load: the
   * exact parser is imported on demand.
   */
  #queue: Promise<void> = Promise.resolve();
  #stopRetrying: (() => void) | undefined;

  constructor(options: RoutesFileOptions, sink: RoutesSink) {
    this.#options = options;
    this.#sink = sink;
  }

  /** Loads the file, valid or not, and watches it. */
  async start(): Promise<void> {
    const { path, clock } = this.#options;
    const content = this.#readFirst();
    this.#watched = watchFile(path, {
      onContent: (bytes) => this.#enqueue(bytes),
      onError: (error) => this.#loadFailed(unreadable(path, error)),
      initialContent: content,
      clock,
    });
    if (content !== undefined) this.#enqueue(content);
    await this.#queue;
  }

  stop(): void {
    this.#watched?.stop();
    this.#cancelRetry();
  }

  #readFirst(): Buffer | undefined {
    try {
      return readWatched(this.#options.path);
    } catch {
      return undefined; // the watch gets the same error and reports it
    }
  }

  #enqueue(bytes: Buffer): void {
    this.#queue = this.#queue.then(() => this.#load(bytes));
  }

  async #load(bytes: Buffer): Promise<void> {
    const startMs = performance.now();
    try {
      const text = bytes.toString('utf8');
      const routes = await parseRoutes(text, this.#options.path, this.#sink.known);
      const version = { routes, startMs };
      const waiting = this.#activate(version);
      this.#cancelRetry();
      if (waiting === 0) this.#recover();
      else this.#retryUntilActive(version, waiting);
    } catch (error) {
      this.#loadFailed(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Returns how many routes wait for a slot. @throws if there are too many routes. */
  #activate({ routes, startMs }: Version): number {
    const { path: file } = this.#options;
    const { log, onRoutes } = this.#sink;
    const { waiting, ...counts } = onRoutes(routes);
    const { state } = this;
    if (waiting === 0) {
      state.loads++;
      state.loadSeconds = (performance.now() - startMs) / 1000;
      state.loadedAtSeconds = Date.now() / 1000;
      const seconds = Math.round(state.loadSeconds * 1000) / 1000;
      log.info('routes updated', { file, routes: routes.length, ...counts, seconds });
    }
    if (routes.length === 0 && counts.removed > 0) {
      log.warn('routes file is empty, refusing all new connections', {
        file,
        removed: counts.removed,
      });
    }
    return waiting;
  }

  /**
   * The watch reports each version once, so this version is retried until all its routes are active, even if later
   * versions are invalid.
   */
  #retryUntilActive(version: Version, waiting: number): void {
    this.#fail(waitingMessage(waiting));
    this.#sink.log.error('not all routes are active', {
      file: this.#options.path,
      error: waitingMessage(waiting),
    });
    const { failures } = this.state;
    this.#stopRetrying = (this.#options.clock ?? systemClock).every(RETRY_MS, () => {
      if (this.#activate(version) > 0) return;
      this.#cancelRetry();
      const isNewest = this.state.failures === failures;
      if (isNewest) this.#recover();
    });
  }

  #cancelRetry(): void {
    this.#stopRetrying?.();
    this.#stopRetrying = undefined;
  }

  #recover(): void {
    this.state.isCurrent = true;
    this.state.problem = undefined;
  }

  #fail(problem: string): void {
    this.state.failures++;
    this.state.isCurrent = false;
    this.state.problem = problem;
  }

  #loadFailed(error: Error): void {
    this.#fail(error.message);
    const { code, line, column } = error instanceof RoutesError ? error : {};
    const keepsPrevious = this.state.loads > 0;
    this.#sink.log.error(
      keepsPrevious ? 'cannot load routes, keeping the previous routes' : 'cannot load routes',
      { error: error.message, code, line, column },
    );
  }
}

/** Returns the error for a file that cannot be read. */
export function unreadable(path: string, error: Error): RoutesError {
  return new RoutesError('routes_unreadable', `cannot be read (${error.message})`, path);
}
