/**
 * A copy of some objects of a server, kept up to date by list and watch.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { backoffMs, delay } from '../backoff.ts';
import type { KubeClient, Selection, WatchEvent } from '../client/client.ts';
import { assertSelected, type InformerBounds } from './bounds.ts';
import { InformerCache, type Change, type IndexValues } from './cache.ts';
import { InformerCounters, lostPosition, type RelistReason } from './relist.ts';
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
   * What of an object is kept: its name, namespace, uid and resourceVersion at least. Default: all but
   * `metadata.managedFields`, which is often the half of it.
   */
  readonly trim?: (object: T) => T;
  readonly indexes?: Readonly<Record<string, IndexValues<T>>>;
  /** For a server that is not trusted: what it sends must be within these, and of the selection. Default: none. */
  readonly bounds?: InformerBounds;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** From 0 to 1, for the spread of delays. Default `Math.random`. */
  readonly random?: () => number;
  /** Informers may share these. Default: counters of this informer alone. */
  readonly counters?: InformerCounters | undefined;
}

/** How an informer is, for metrics and status. */
export interface InformerState {
  readonly hasSynced: boolean;
  /** Whether a watch is open. */
  readonly isConnected: boolean;
  /** Since when, on the informer's clock, changes may have been missed; absent while connected. */
  readonly staleSinceMs: number | undefined;
  /** Absent once all is well again. */
  readonly lastError: KubeError | undefined;
  /** So many lists came through. */
  readonly lists: number;
  /** So many lists and watches did not. */
  readonly failures: number;
  readonly objects: number;
  /** The last one seen, in a list, an event or a bookmark; absent while a list is due. */
  readonly resourceVersion: string | undefined;
}

/** Reasons for which the API server did not process the request, or did not answer it. */
const OUTAGE_REASONS = ['Unreachable', 'Untrusted', 'TimedOut', 'ServerError'] as const;

/** A watch shorter than this was no good, even if nobody calls that an error. */
const SHORT_WATCH_MS = 1000;
/** One that lived longer than this, or brought an event, was: what comes after is a new trouble, not more of the old. */
const GOOD_WATCH_MS = 10_000;
/** No server's advice is waited for longer. */
const MAX_ADVICE_MS = 60_000;

/**
 * The copy. It never gives up: after a reset, an outage or a server that hangs it comes back by itself, and tells what
 * has changed meanwhile as if it had been there.
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
  readonly #listeners = new Set<(change: Change<T>) => void>();
  readonly #listListeners = new Set<() => () => void>();
  readonly #failureListeners = new Set<(error: KubeError) => void>();
  readonly #synced = Promise.withResolvers<void>();
  /** Where the next watch goes on; absent: a list is due. */
  #resourceVersion: string | undefined;
  /** Whether the API server was unavailable since the last event: it may come back with older data. */
  #mayHaveRegressed = false;
  /** Where the last watch stood when it received something unusable. */
  #malformedAfter: string | undefined;
  #connectedSinceMs: number | undefined;
  /** Whether the watch that is open, or was last, has brought anything. */
  #hasProgressed = false;
  #staleSinceMs: number;
  #lastError: KubeError | undefined;
  #lists = 0;
  #failures = 0;
  /** Since something went well. */
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
   * Lists and watches until the signal, once in the life of an informer. Nothing that a server answers ends it, and it
   * never throws: an object that `trim`, an index or a listener throws at is a list or a watch that has failed.
   */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(this.#clock, await this.#step(signal), signal);
    }
  }

  /** Returns how long to pause then. */
  async #step(signal: AbortSignal): Promise<number> {
    const resourceVersion = this.#resourceVersion;
    if (resourceVersion === undefined) return this.#list(signal);
    if (this.#mayHaveRegressed) return this.#checkVersion(resourceVersion, signal);
    return this.#watch(resourceVersion, signal);
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

  /** Ends when the first list is in. @throws the signal's reason */
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

  /** Those that have this value in an index of the options. */
  byIndex(name: string, value: string): readonly T[] {
    return this.#cache.byIndex(name, value);
  }

  /** Tells of every change from now on, after it is in the copy, until the returned function is called. */
  onChange(listener: (change: Change<T>) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Calls the listener when a list begins, from now on until the returned function is called. What the listener returns is
   * called when the list is complete: after it is in the copy, and before {@link onChange} reports what it changed.
   */
  onList(listener: () => () => void): () => void {
    this.#listListeners.add(listener);
    return () => void this.#listListeners.delete(listener);
  }

  /** Tells of every list and watch that fails from now on, until the returned function is called. */
  onFailure(listener: (error: KubeError) => void): () => void {
    this.#failureListeners.add(listener);
    return () => void this.#failureListeners.delete(listener);
  }

  /** All of it anew. Returns how long to pause then. */
  async #list(signal: AbortSignal): Promise<number> {
    const { client, resource, selection, bounds } = this.#options;
    try {
      const completed = [...this.#listListeners].map((begin) => begin());
      const options = { ...selection, bounds, trim: this.#kept, signal };
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
      this.#tell(changes);
      return 0;
    } catch (thrown) {
      return this.#pauseAfter(thrown, signal);
    }
  }

  /** What happens from a version on, for as long as that goes. Returns how long to pause then. */
  async #watch(resourceVersion: string, signal: AbortSignal): Promise<number> {
    const { client, resource, selection } = this.#options;
    try {
      const onOpen = () => this.#connected();
      const watch = client.watch<T>(resource, { ...selection, resourceVersion, signal, onOpen });
      await this.#takeAll(watch[Symbol.asyncIterator](), signal);
      if (signal.aborted) return 0;
      const isShort = this.#connectedForMs() < SHORT_WATCH_MS;
      if (!isShort || this.#hasProgressed) this.#failuresInARow = 0;
      if (isShort) this.#failuresInARow++;
      return this.#backoffMs();
    } catch (thrown) {
      const isOver = this.#connectedForMs() >= GOOD_WATCH_MS || this.#hasProgressed;
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
    const lost = lostPosition(reason);
    if (lost !== undefined) {
      this.#relist(lost);
    } else if (reason === 'Malformed') {
      // Another try may receive the event in full. One that cannot be used must not block those after it.
      if (this.#malformedAfter === this.#resourceVersion) this.#relist(reason);
      else this.#malformedAfter = this.#resourceVersion;
    } else if (this.#connectedSinceMs === undefined && isKubeError(thrown, ...OUTAGE_REASONS)) {
      this.#mayHaveRegressed = true;
    }
  }

  /**
   * After an outage: a server whose etcd was restored from a backup is at a lower version. It accepts a watch from a later
   * one, and sends nothing until it has passed that version. Returns how long to pause then.
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
   * Not by `for await`: JavaScriptCore would keep the last event, untrimmed, until the next one comes. Of a thousand
   * quiet watches those were 15 MB.
   */
  async #takeAll(events: AsyncIterator<WatchEvent<T>>, signal: AbortSignal): Promise<void> {
    try {
      while (await this.#takeNext(events, signal)) continue;
    } finally {
      await events.return?.();
    }
  }

  async #takeNext(events: AsyncIterator<WatchEvent<T>>, signal: AbortSignal): Promise<boolean> {
    const next = await events.next();
    if (next.done === true || signal.aborted) return false;
    this.#take(next.value);
    return true;
  }

  #pauseAfter(thrown: unknown, signal: AbortSignal): number {
    if (signal.aborted) return 0;
    const error = isKubeError(thrown) ? thrown : this.#unreadable(thrown);
    this.#lastError = error;
    this.#failures++;
    this.#failuresInARow++;
    for (const listener of this.#failureListeners) listener(error);
    return Math.max(this.#backoffMs(), Math.min(error.retryAfterMs ?? 0, MAX_ADVICE_MS));
  }

  /** Nothing else is thrown by a client, but then nothing that a server sends may end this. */
  #unreadable(thrown: unknown): KubeError {
    const { client, resource } = this.#options;
    const said = thrown instanceof Error ? thrown.message : String(thrown);
    return new KubeError('Malformed', `${resource.plural} at ${client.server}: ${quoted(said)}`, {
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

  #take(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.#resourceVersion = event.resourceVersion;
      this.#hasProgressed = true;
      return;
    }
    // The last state of a deleted object may not match the selection any more.
    const changes =
      event.type === 'DELETED'
        ? this.#cache.remove(readObject(event.object, this.#trim))
        : this.#cache.put(readObject(event.object, this.#kept));
    // Only now: an event that could not be stored is requested again.
    const { resourceVersion } = event.object.metadata;
    if (resourceVersion !== undefined) this.#resourceVersion = resourceVersion;
    this.#hasProgressed = true;
    this.#tell(changes);
  }

  readonly #kept = (object: T): T => {
    const { bounds, selection } = this.#options;
    if (bounds !== undefined && selection !== undefined) assertSelected(object, selection);
    return this.#trim(object);
  };

  /** Every change to every listener, whatever one of them throws. @throws KubeError for the first that was thrown */
  #tell(changes: readonly Change<T>[]): void {
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
