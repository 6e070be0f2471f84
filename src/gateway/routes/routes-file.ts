/**
 * The routes file over time: the last good version stays in force, whatever is written after it.
 */
import type { Clock } from '../../engine/clock.ts';
import { readWatched } from '../../files/read-watched.ts';
import { watchFile, type WatchedFile } from '../../files/watched-file.ts';
import { nothingLoaded, type LoadState, type RoutesFeed, type RoutesSink } from './routes-feed.ts';
import { parseRoutes, RoutesError } from './routes-text.ts';

/** Options of {@link RoutesFile}. */
export interface RoutesFileOptions {
  readonly path: string;
  readonly clock?: Clock | undefined;
}

/** Watches the file and loads it. */
export class RoutesFile implements RoutesFeed {
  readonly state: LoadState = nothingLoaded();

  readonly #options: RoutesFileOptions;
  readonly #sink: RoutesSink;
  #watched: WatchedFile | undefined;
  /** Loads come one after the other: the exact parser is loaded on demand, and the next version may be there first. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: RoutesFileOptions, sink: RoutesSink) {
    this.#options = options;
    this.#sink = sink;
  }

  /** Loads the file, good or not, and watches it from now on. */
  async start(): Promise<void> {
    const { path, clock } = this.#options;
    const known = this.#readFirst();
    this.#watched = watchFile(path, {
      onContent: (bytes) => this.#enqueue(bytes),
      onError: (error) => this.#refuse(unreadable(path, error)),
      known,
      clock,
    });
    if (known !== undefined) this.#enqueue(known);
    await this.#last;
  }

  stop(): void {
    this.#watched?.stop();
  }

  #readFirst(): Buffer | undefined {
    try {
      return readWatched(this.#options.path);
    } catch {
      return undefined; // the watch finds the same, and reports it
    }
  }

  #enqueue(bytes: Buffer): void {
    this.#last = this.#last.then(() => this.#load(bytes));
  }

  async #load(bytes: Buffer): Promise<void> {
    const { path } = this.#options;
    const { log, onRoutes, known } = this.#sink;
    const startMs = performance.now();
    try {
      const routes = await parseRoutes(bytes.toString('utf8'), path, known);
      const counts = onRoutes(routes);
      const { state } = this;
      state.loads++;
      state.isGood = true;
      state.problem = undefined;
      state.loadSeconds = (performance.now() - startMs) / 1000;
      state.loadedAtSeconds = Date.now() / 1000;
      const seconds = Math.round(state.loadSeconds * 1000) / 1000;
      log.info('routes in force', { file: path, routes: routes.length, ...counts, seconds });
      if (routes.length === 0 && counts.removed > 0) {
        log.warn('the routes file has no routes any more; new clients are all refused', {
          file: path,
          removed: counts.removed,
        });
      }
    } catch (error) {
      this.#refuse(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #refuse(error: Error): void {
    this.state.failures++;
    this.state.isGood = false;
    this.state.problem = error.message;
    const { code, line, column } = error instanceof RoutesError ? error : {};
    const kept =
      this.state.loads > 0 ? 'the last good routes stay in force' : 'no routes are in force yet';
    this.#sink.log.error(`${error.message}; ${kept}`, { code, line, column });
  }
}

function unreadable(path: string, error: Error): RoutesError {
  return new RoutesError('routes_unreadable', `cannot be read (${error.message})`, path);
}
