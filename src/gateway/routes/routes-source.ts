/**
 * The routes file over time: the last good version stays in force, whatever is written after it.
 */
import type { Clock } from '../../engine/clock.ts';
import { readWatched } from '../../files/read-watched.ts';
import { watchFile, type WatchedFile } from '../../files/watched-file.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { Route } from './route.ts';
import type { KnownRoute } from './route-values.ts';
import { parseRoutes, RoutesError } from './routes-text.ts';

/** Options of {@link RoutesSource}. */
export interface RoutesSourceOptions {
  readonly path: string;
  readonly log: Logger;
  /** Puts routes in force. What it throws counts as a bad file. */
  readonly onRoutes: (routes: readonly Route[]) => RouteCounts;
  /** The routes in force. */
  readonly known: KnownRoute;
  readonly clock?: Clock | undefined;
}

/** How many routes a new version of the file has touched. */
export interface RouteCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** How the loading went so far: for metrics and readiness. */
export interface LoadState {
  /** Whether the last version that was seen is the one in force. */
  isGood: boolean;
  /** Why not, as a sentence with the line. */
  problem: string | undefined;
  loads: number;
  failures: number;
  /** Of the last good load: how long it took from bytes to routes in force, and when it was. */
  loadSeconds: number;
  loadedAtSeconds: number;
}

/** Watches the file and loads it. */
export class RoutesSource {
  readonly state: LoadState = {
    isGood: false,
    problem: undefined,
    loads: 0,
    failures: 0,
    loadSeconds: 0,
    loadedAtSeconds: 0,
  };

  readonly #options: RoutesSourceOptions;
  #watched: WatchedFile | undefined;
  /** Loads come one after the other: the exact parser is loaded on demand, and the next version may be there first. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: RoutesSourceOptions) {
    this.#options = options;
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
    const { path, log, onRoutes, known } = this.#options;
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
      this.state.loads > 0 ? 'the last good routes stay in force' : 'there are no routes yet';
    this.#options.log.error(`${error.message}; ${kept}`, { code, line, column });
  }
}

function unreadable(path: string, error: Error): RoutesError {
  return new RoutesError('routes_unreadable', `cannot be read (${error.message})`, path);
}
