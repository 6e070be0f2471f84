/**
 * Caches objects that were read or written a moment ago, so that two reads within seconds cause one request. Nothing is
 * cached for longer, so that a thousand idle servers take no memory.
 */
import type { Clock } from '../../clock/clock.ts';
import type { CallOptions, KubeClient } from './client.ts';
import { withShallowManagedFields } from '../managed-fields.ts';
import { keyText, type KubeObject, type ObjectKey } from '../object.ts';
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
  /** Reads in progress, by kind and key. The result of a superseded read is older than the cache. */
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
    const place = placeOf(resource, key);
    const known = this.#objects.get(place);
    if (known !== undefined && !this.#isStale(known)) return known.value as T | undefined;
    const reading: Reading = { isOvertaken: false };
    const others = this.#reading.get(place) ?? new Set();
    this.#reading.set(place, others.add(reading));
    try {
      const object = await this.#client.get<T>(resource, key, options);
      if (!reading.isOvertaken) return this.#keep(place, object);
      const newer = this.#objects.get(place);
      return newer === undefined ? object : (newer.value as T | undefined);
    } finally {
      others.delete(reading);
      if (others.size === 0 && this.#reading.get(place) === others) this.#reading.delete(place);
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
    this.#keep(placeOf(resource, object.metadata), object);
  }

  /** Removes an object, so that the next read asks the server. */
  forget(resource: Resource, key: ObjectKey): void {
    const place = placeOf(resource, key);
    this.#overtake(place);
    this.#objects.delete(place);
  }

  /** Removes everything. */
  clear(): void {
    for (const place of this.#reading.keys()) this.#overtake(place);
    this.#objects.clear();
    this.#version = undefined;
    this.#stopClearing?.();
    this.#stopClearing = undefined;
  }

  #keep<T extends KubeObject>(place: string, object: T | undefined): T | undefined {
    this.#overtake(place);
    const kept = object && withShallowManagedFields(object);
    this.#objects.set(place, this.#recent(kept));
    return kept;
  }

  /** Marks the reads in progress as superseded. */
  #overtake(place: string): void {
    for (const reading of this.#reading.get(place) ?? []) reading.isOvertaken = true;
  }

  #recent<T>(value: T): Recent<T> {
    this.#stopClearing ??= this.#clock.every(this.#freshMs, () => this.#dropStale());
    return { value, atMs: this.#clock.nowMs() };
  }

  #isStale({ atMs }: Recent<unknown>): boolean {
    return this.#clock.nowMs() - atMs >= this.#freshMs;
  }

  #dropStale(): void {
    for (const [place, recent] of this.#objects) {
      if (this.#isStale(recent)) this.#objects.delete(place);
    }
    if (this.#version !== undefined && this.#isStale(this.#version)) this.#version = undefined;
    if (this.size === 0) this.clear();
  }
}

/** A read in progress. */
interface Reading {
  isOvertaken: boolean;
}

interface Recent<T> {
  readonly value: T;
  readonly atMs: number;
}

function placeOf({ apiVersion, kind }: Resource, key: ObjectKey): string {
  return `${apiVersion} ${kind} ${keyText(key)}`;
}
