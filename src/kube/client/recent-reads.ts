/**
 * Caches objects for some seconds after a read or write, so that two reads in a row cause one request. The lifetime is
 * short, so that a thousand idle servers take no memory.
 */
import type { Clock } from '../../clock/clock.ts';
import type { CallOptions, KubeClient } from './client.ts';
import { withShallowManagedFields } from '../managed-fields.ts';
import { keyText, type KubeObject, type ObjectKey } from '../object.ts';
import { readObject } from '../object-read.ts';
import type { Resource } from '../resource.ts';

/** A client that only reads. */
export type Reader = Pick<KubeClient, 'server' | 'get' | 'version'>;

/** A short-lived cache for the reads of one client. Of `managedFields` it has only the top-level fields. */
export class RecentReads implements Reader {
  readonly #client: Reader;
  readonly #clock: Clock;
  readonly #freshMs: number;
  /** By kind and key. Undefined if there is no object. */
  readonly #objects = new Map<string, Recent<KubeObject | undefined>>();
  #version: Recent<{ readonly gitVersion: string }> | undefined;
  /**
   * Reads in progress, by kind and key. The cache has a newer object than the result of a superseded
   * read.
   */
  readonly #reading = new Map<string, Set<Reading>>();
  /** Absent while the cache is empty. */
  #stopClearing: (() => void) | undefined;

  /** @param freshMs - How long a response may be reused. */
  constructor(client: Reader, freshMs: number, clock: Clock) {
    this.#client = client;
    this.#freshMs = freshMs;
    this.#clock = clock;
  }

  /** The number of cached responses. */
  get size(): number {
    return this.#objects.size + (this.#version === undefined ? 0 : 1);
  }

  get server(): string {
    return this.#client.server;
  }

  /** Returns the object from the cache or the server. @throws KubeError */
  async get<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    options: CallOptions = {},
  ): Promise<T | undefined> {
    const cacheKey = cacheKeyOf(resource, key);
    const known = this.#objects.get(cacheKey);
    if (known !== undefined && !this.#isStale(known)) return known.value as T | undefined;
    const reading: Reading = { isSuperseded: false };
    const others = this.#reading.get(cacheKey) ?? new Set();
    this.#reading.set(cacheKey, others.add(reading));
    try {
      const object = await this.#client.get<T>(resource, key, options);
      if (!reading.isSuperseded) return this.#store(cacheKey, object);
      const newer = this.#objects.get(cacheKey);
      return newer === undefined ? object : (newer.value as T | undefined);
    } finally {
      others.delete(reading);
      if (others.size === 0 && this.#reading.get(cacheKey) === others)
        this.#reading.delete(cacheKey);
    }
  }

  /** Returns the version from the cache or the server. @throws KubeError */
  async version(options: CallOptions = {}): Promise<{ readonly gitVersion: string }> {
    if (this.#version === undefined || this.#isStale(this.#version)) {
      this.#version = this.#recent(await this.#client.version(options));
    }
    return this.#version.value;
  }

  /** Stores the current object, from the response to another request. */
  put(resource: Resource, object: KubeObject): void {
    this.#store(cacheKeyOf(resource, object.metadata), object);
  }

  /** Removes an object, so that the next read asks the server. */
  forget(resource: Resource, key: ObjectKey): void {
    const cacheKey = cacheKeyOf(resource, key);
    this.#supersede(cacheKey);
    this.#objects.delete(cacheKey);
  }

  /** Removes everything. */
  clear(): void {
    for (const cacheKey of this.#reading.keys()) this.#supersede(cacheKey);
    this.#objects.clear();
    this.#version = undefined;
    this.#stopClearing?.();
    this.#stopClearing = undefined;
  }

  #store<T extends KubeObject>(cacheKey: string, object: T | undefined): T | undefined {
    this.#supersede(cacheKey);
    const trimmed = object && readObject(object, withShallowManagedFields);
    this.#objects.set(cacheKey, this.#recent(trimmed));
    return trimmed;
  }

  /** Marks the reads in progress as superseded. */
  #supersede(cacheKey: string): void {
    for (const reading of this.#reading.get(cacheKey) ?? []) reading.isSuperseded = true;
  }

  #recent<T>(value: T): Recent<T> {
    this.#stopClearing ??= this.#clock.every(this.#freshMs, () => this.#dropStale());
    return { value, atMs: this.#clock.nowMs() };
  }

  #isStale({ atMs }: Recent<unknown>): boolean {
    return this.#clock.nowMs() - atMs >= this.#freshMs;
  }

  #dropStale(): void {
    for (const [cacheKey, recent] of this.#objects) {
      if (this.#isStale(recent)) this.#objects.delete(cacheKey);
    }
    if (this.#version !== undefined && this.#isStale(this.#version)) this.#version = undefined;
    if (this.size === 0) this.clear();
  }
}

/** A read in progress. */
interface Reading {
  isSuperseded: boolean;
}

interface Recent<T> {
  readonly value: T;
  readonly atMs: number;
}

function cacheKeyOf({ apiVersion, kind }: Resource, key: ObjectKey): string {
  return `${apiVersion} ${kind} ${keyText(key)}`;
}
