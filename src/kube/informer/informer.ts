/**
 * A local cache of objects of an API server, kept up to date by list and watch.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { backoffMs, delay } from '../backoff.ts';
import type { KubeClient, Selection, WatchEvent } from '../client/client.ts';
import { assertSelected, type InformerBounds } from './bounds.ts';
import { InformerCache, type Change, type IndexValues } from './cache.ts';
import { InformerCounters, relistReason, type RelistReason } from './relist.ts';
import { isKubeError, KubeError } from '../kube-error.ts';
import { readObject } from '../object-read.ts';
import { isLowerVersion, type KubeObject, type ObjectKey } from '../object.ts';
import { quoted } from '../../text/quote.ts';
import type { Resource } from '../resource.ts';

/** Options of an {@link Informer}. */
export interface InformerOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly resource: Resource;
  /** Default: all objects. */
  readonly selection?: Selection;
  /**
   * Trims an object. The result must have at least the name, namespace, uid and resourceVersion. Default: removes
   * `metadata.managedFields`, which is often half of the object.
   */
  readonly trim?: (object: T) => T;
  readonly indexes?: Readonly<Record<string, IndexValues<T>>>;
  /** For an untrusted server: its objects must fit these bounds and match the selection. Default: none. */
  readonly bounds?: InformerBounds;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** From 0 to 1, for jitter. Default `Math.random`. */
  readonly random?: () => number;
  /** Informers may share counters. Default: counters of this informer alone. */
  readonly counters?: InformerCounters | undefined;
}

/** The state of an informer, for metrics and status. */
export interface InformerState {
  readonly hasSynced: boolean;
  /** Whether a watch is open. */
  readonly isConnected: boolean;
  /** Since when changes may have been missed, on the informer's clock. Absent while connected. */
  readonly staleSinceMs: number | undefined;
  /** Absent after recovery. */
  readonly lastError: KubeError | undefined;
  /** Lists that succeeded. */
  readonly lists: number;
  /** Lists and watches that failed. */
  readonly failures: number;
  readonly objects: number;
  /** The last version seen in a list, an event or a bookmark. Absent while a list is due. */
  readonly resourceVersion: string | undefined;
}

/** Reasons for which the API server did not process the request, or did not answer it. */
const OUTAGE_REASONS = ['Unreachable', 'Untrusted', 'TimedOut', 'ServerError'] as const;

/** A watch shorter than this counts as failed, even if it ends without an error. */
const SHORT_WATCH_MS = 1000;
/**
 * A watch that lived longer than this, or delivered an event, resets the backoff: a failure afterwards is a new
 * problem.
 */
const STABLE_WATCH_MS = 10_000;
/** Maximum `Retry-After` that is honored. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * The informer. It retries forever: it recovers from resets, outages and hanging servers, and then reports the changes
 * that it missed.
 *
 * It lists without a resourceVersion, so that every list is a consistent read. A dropped watch resumes from the last
 * resourceVersion of an event or bookmark. The informer lists again only for a {@link RelistReason}.
 */
export class Informer<T extends KubeObject> {
  readonly counters: InformerCounters;
  readonly #options: InformerOptions<T>;
  readonly #clock: Clock;
  readonly #trim: (object: T) => T;
  readonly #cache: InformerCache<T>;
  // Arrays, because a process may have thousands of informers, and a Set takes a quarter of a kilobyte.
  #listeners: readonly ((change: Change<T>) => void)[] = [];
  #listListeners: readonly (() => () => void)[] = [];
  #failureListeners: readonly ((error: KubeError) => void)[] = [];
  readonly #synced = Promise.withResolvers<void>();
  /** Where the next watch resumes. Absent if a list is due. */
  #resourceVersion: string | undefined;
  /** Whether the API server was unavailable since the last event: it may come back with older data. */
  #mayHaveRegressed = false;
  /** The position of the last watch when it received an unusable event. */
  #malformedAfter: string | undefined;
  #connectedSinceMs: number | undefined;
  /** Whether the current or last watch has delivered anything. */
  #hasProgressed = false;
  #staleSinceMs: number;
  #lastError: KubeError | undefined;
  #lists = 0;
  #failures = 0;
  /** Since the last success. */
  #failuresInARow = 0;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#trim = options.trim ?? withoutManagedFields;
    this.#cache = new InformerCache(options.indexes, options.bounds);
    this.counters = options.counters ?? new InformerCounters();
    this.#staleSinceMs = this.#clock.nowMs();
  }

  /**
   * Lists and watches until the signal aborts. May be called once. It never throws: if `trim`, an index or a
   * listener throws for an object, the list or watch counts as failed.
   */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(this.#clock, await this.#step(signal), signal);
    }
  }

  /** Returns how long to pause afterwards. */
  async #step(signal: AbortSignal): Promise<number> {
    const resourceVersion = this.#resourceVersion;
    if (resourceVersion === undefined) return this.#list(signal);
    if (this.#mayHaveRegressed) return this.#checkVersion(resourceVersion, signal);
    return this.#watch(resourceVersion, signal);
  }

  /** The kind of the objects. */
  get resource(): Resource {
    return this.#options.resource;
  }

  get hasSynced(): boolean {
    return this.#lists > 0;
  }

  get state(): InformerState {
    const isConnected = this.#connectedSinceMs !== undefined;
    return {
      hasSynced: this.hasSynced,
      isConnected,
      staleSinceMs: isConnected ? undefined : this.#staleSinceMs,
      lastError: this.#lastError,
      lists: this.#lists,
      failures: this.#failures,
      objects: this.#cache.size,
      resourceVersion: this.#resourceVersion,
    };
  }

  /** Waits for the first list. @throws the signal's reason */
  async synced(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    void this.#synced.promise.then(resolve);
    await promise.finally(() => signal.removeEventListener('abort', abort));
  }

  get(key: ObjectKey): T | undefined {
    return this.#cache.get(key);
  }

  list(): readonly T[] {
    return this.#cache.list();
  }

  /** Returns the objects with this value in an index of the options. */
  byIndex(name: string, value: string): readonly T[] {
    return this.#cache.byIndex(name, value);
  }

  /** Calls the listener for every change, after the change is in the cache, until the returned function is called. */
  onChange(listener: (change: Change<T>) => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => void (this.#listeners = this.#listeners.filter((other) => other !== listener));
  }

  /**
   * Calls the listener when a list begins, until the returned function is called. The function that the listener
   * returns is called when the list is complete: after it is in the cache, and before {@link onChange} reports its
   * changes.
   */
  onList(listener: () => () => void): () => void {
    this.#listListeners = [...this.#listListeners, listener];
    return () =>
      void (this.#listListeners = this.#listListeners.filter((other) => other !== listener));
  }

  /** Calls the listener for every list and watch that fails, until the returned function is called. */
  onFailure(listener: (error: KubeError) => void): () => void {
    this.#failureListeners = [...this.#failureListeners, listener];
    return () =>
      void (this.#failureListeners = this.#failureListeners.filter((other) => other !== listener));
  }

  /** Lists all objects. Returns how long to pause afterwards. */
  async #list(signal: AbortSignal): Promise<number> {
    const { client, resource, selection, bounds } = this.#options;
    try {
      const completed = this.#listListeners.map((begin) => begin());
      const options = { ...selection, bounds, trim: this.#trimmed, signal };
      const list = await client.list<T>(resource, options);
      if (signal.aborted) return 0;
      const changes = this.#cache.replace(list.items);
      this.#resourceVersion = list.resourceVersion;
      this.#mayHaveRegressed = false;
      this.#malformedAfter = undefined;
      this.#lists++;
      this.counters.lists++;
      this.#synced.resolve();
      for (const complete of completed) complete();
      this.#notify(changes);
      return 0;
    } catch (thrown) {
      return this.#pauseAfter(thrown, signal);
    }
  }

  /** Watches from a version until the watch ends. Returns how long to pause afterwards. */
  async #watch(resourceVersion: string, signal: AbortSignal): Promise<number> {
    const { client, resource, selection } = this.#options;
    try {
      const onOpen = () => this.#connected();
      const watch = client.watch<T>(resource, { ...selection, resourceVersion, signal, onOpen });
      await this.#consume(watch[Symbol.asyncIterator](), signal);
      if (signal.aborted) return 0;
      const isShort = this.#connectedForMs() < SHORT_WATCH_MS;
      if (!isShort || this.#hasProgressed) this.#failuresInARow = 0;
      if (isShort) this.#failuresInARow++;
      return this.#backoffMs();
    } catch (thrown) {
      const isOver = this.#connectedForMs() >= STABLE_WATCH_MS || this.#hasProgressed;
      if (isOver) this.#failuresInARow = 0;
      if (!signal.aborted) this.#choosePosition(thrown);
      return this.#pauseAfter(thrown, signal);
    } finally {
      this.#disconnected();
    }
  }

  /** Decides after a failed watch whether the next one resumes where this one ended. */
  #choosePosition(thrown: unknown): void {
    const reason = isKubeError(thrown) ? thrown.reason : 'Malformed';
    const lost = relistReason(reason);
    if (lost !== undefined) {
      this.#relist(lost);
    } else if (reason === 'Malformed') {
      // A retry may receive the complete event. An event that fails twice must not block later ones.
      if (this.#malformedAfter === this.#resourceVersion) this.#relist(reason);
      else this.#malformedAfter = this.#resourceVersion;
    } else if (this.#connectedSinceMs === undefined && isKubeError(thrown, ...OUTAGE_REASONS)) {
      this.#mayHaveRegressed = true;
    }
  }

  /**
   * Checks the version after an outage: a server whose etcd was restored from a backup has a lower version. It accepts
   * a watch from a later version, but sends no events until it has passed that version. Returns how long to pause
   * afterwards.
   */
  async #checkVersion(known: string, signal: AbortSignal): Promise<number> {
    const { client, resource, selection } = this.#options;
    try {
      const current = await client.currentVersion(resource, { ...selection, signal });
      this.#mayHaveRegressed = false;
      if (isLowerVersion(current, known)) this.#relist('Regressed');
      return 0;
    } catch (thrown) {
      return this.#pauseAfter(thrown, signal);
    }
  }

  #relist(reason: RelistReason): void {
    this.#resourceVersion = undefined;
    this.counters.relists[reason]++;
  }

  /**
   * Does not use `for await`: JavaScriptCore would retain the last, untrimmed event until the next one arrives. For a
   * thousand quiet watches, this was 15 MB.
   */
  async #consume(events: AsyncIterator<WatchEvent<T>>, signal: AbortSignal): Promise<void> {
    try {
      while (await this.#consumeNext(events, signal)) continue;
    } finally {
      await events.return?.();
    }
  }

  async #consumeNext(events: AsyncIterator<WatchEvent<T>>, signal: AbortSignal): Promise<boolean> {
    const next = await events.next();
    if (next.done === true || signal.aborted) return false;
    this.#handle(next.value);
    return true;
  }

  #pauseAfter(thrown: unknown, signal: AbortSignal): number {
    if (signal.aborted) return 0;
    const error = isKubeError(thrown) ? thrown : this.#unreadable(thrown);
    this.#lastError = error;
    this.#failures++;
    this.#failuresInARow++;
    for (const listener of this.#failureListeners) listener(error);
    return Math.max(this.#backoffMs(), Math.min(error.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
  }

  /** Wraps other errors. A client throws only KubeErrors, but nothing that a server sends may end the informer. */
  #unreadable(thrown: unknown): KubeError {
    const { client, resource } = this.#options;
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return new KubeError('Malformed', `${resource.plural} at ${client.server}: ${quoted(reason)}`, {
      cause: thrown,
    });
  }

  #backoffMs(): number {
    return backoffMs(this.#failuresInARow, (this.#options.random ?? Math.random)());
  }

  #connected(): void {
    this.#connectedSinceMs = this.#clock.nowMs();
    this.#hasProgressed = false;
    this.#lastError = undefined;
    this.counters.watches++;
  }

  #connectedForMs(): number {
    const sinceMs = this.#connectedSinceMs;
    return sinceMs === undefined ? 0 : this.#clock.nowMs() - sinceMs;
  }

  #disconnected(): void {
    if (this.#connectedSinceMs === undefined) return;
    this.#connectedSinceMs = undefined;
    this.#staleSinceMs = this.#clock.nowMs();
  }

  #handle(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.#resourceVersion = event.resourceVersion;
      this.#hasProgressed = true;
      return;
    }
    // The last state of a deleted object may no longer match the selection.
    const changes =
      event.type === 'DELETED'
        ? this.#cache.remove(readObject(event.object, this.#trim))
        : this.#cache.put(readObject(event.object, this.#trimmed));
    // Updated last, so that an event that could not be stored is requested again.
    const { resourceVersion } = event.object.metadata;
    if (resourceVersion !== undefined) this.#resourceVersion = resourceVersion;
    this.#hasProgressed = true;
    this.#notify(changes);
  }

  readonly #trimmed = (object: T): T => {
    const { bounds, selection } = this.#options;
    if (bounds !== undefined && selection !== undefined) assertSelected(object, selection);
    return this.#trim(object);
  };

  /** Calls every listener for every change, even if one throws. @throws KubeError for the first error */
  #notify(changes: readonly Change<T>[]): void {
    const errors: unknown[] = [];
    for (const change of changes) {
      for (const listener of this.#listeners) {
        try {
          readObject(change.object, () => listener(change));
        } catch (error) {
          errors.push(error);
        }
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
