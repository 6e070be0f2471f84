/**
 * Objects that were read or written a moment ago. Whoever looks twice within seconds asks the server once; nothing is kept
 * for longer, so that a thousand servers cost no memory while nothing happens.
 */
import type { Clock } from '../../clock/clock.ts';
import type { CallOptions, KubeClient } from './client.ts';
import { withShallowManagedFields } from '../managed-fields.ts';
import { keyText, type KubeObject, type ObjectKey } from '../object.ts';
import type { Resource } from '../resource.ts';

/** What only reads. */
export type Reader = Pick<KubeClient, 'server' | 'get' | 'version'>;

/** Reads of one client. Of `managedFields` they have the topmost fields. */
export class RecentReads implements Reader {
  readonly #client: Reader;
  readonly #clock: Clock;
  readonly #freshMs: number;
  /** By kind and key; nothing where there is no object. */
  readonly #objects = new Map<string, Recent<KubeObject | undefined>>();
  #version: Recent<{ readonly gitVersion: string }> | undefined;
  /** By the same, those that are on their way. One that was overtaken says how it was before. */
  readonly #reading = new Map<string, Set<Reading>>();
  /** Absent while nothing is kept. */
  #stopClearing: (() => void) | undefined;

  /** @param freshMs - How long an answer is good. */
  constructor(client: Reader, freshMs: number, clock: Clock) {
    this.#client = client;
    this.#freshMs = freshMs;
    this.#clock = clock;
  }

  /** How many answers are kept. */
  get size(): number {
    return this.#objects.size + (this.#version === undefined ? 0 : 1);
  }

  get server(): string {
    return this.#client.server;
  }

  /** As the server says, or as it said a moment ago. @throws KubeError */
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

  /** The same for `/version`. @throws KubeError */
  async version(options: CallOptions = {}): Promise<{ readonly gitVersion: string }> {
    if (this.#version === undefined || this.#isStale(this.#version)) {
      this.#version = this.#recent(await this.#client.version(options));
    }
    return this.#version.value;
  }

  /** This is how it is now, by an answer to somebody else. */
  put(resource: Resource, object: KubeObject): void {
    this.#keep(placeOf(resource, object.metadata), object);
  }

  /** The next read of it asks the server. */
  forget(resource: Resource, key: ObjectKey): void {
    const place = placeOf(resource, key);
    this.#overtake(place);
    this.#objects.delete(place);
  }

  /** Nothing is kept any more. */
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

  /** Whatever was asked before this is older. */
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

/** A question that was not answered yet. */
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
