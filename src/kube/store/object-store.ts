/**
 * The objects of an API server, every version of them, and who waits for the next.
 */
import type { KubeObject, ObjectKey } from '../object.ts';
import { groupOf, type Resource } from '../resource.ts';
import { expired } from './api-failure.ts';

/** An object with fields that nobody has looked at. Never changed in place. */
export interface ApiObject extends KubeObject {
  readonly [field: string]: unknown;
}

/** What became of an object. */
export interface StoreEvent {
  readonly version: number;
  readonly group: string;
  readonly plural: string;
  /** Absent: it was not there before. */
  readonly before: ApiObject | undefined;
  /** Absent: it is gone; `before` then carries the version of its end. */
  readonly after: ApiObject | undefined;
}

/** Options of an {@link ObjectStore}. */
export interface StoreOptions {
  /** How many events a watch can go back. */
  readonly historyLimit: number;
  /** Default: objects live as long as the process. */
  readonly keeper?: ObjectKeeper | undefined;
}

/** Writes every version elsewhere too, before it counts. What it throws, the writer gets, and nothing has changed. */
export interface ObjectKeeper {
  put(resource: Resource, object: ApiObject, before: ApiObject | undefined): void;
  remove(resource: Resource, key: ObjectKey): void;
}

/** Keeps objects. Knows versions and nothing of their contents. */
export class ObjectStore {
  readonly #objects = new Map<string, Map<string, ApiObject>>();
  readonly #history: StoreEvent[] = [];
  readonly #listeners = new Set<(event: StoreEvent) => void>();
  readonly #historyLimit: number;
  readonly #keeper: ObjectKeeper | undefined;
  #version = 1;
  /** Events up to this version are forgotten. */
  #compacted = 1;

  constructor({ historyLimit, keeper }: StoreOptions) {
    this.#historyLimit = historyLimit;
    this.#keeper = keeper;
  }

  /** The current resourceVersion. */
  get version(): number {
    return this.#version;
  }

  get(resource: Resource, key: ObjectKey): ApiObject | undefined {
    return this.#objects.get(tableOf(resource))?.get(placeOf(key));
  }

  /** All objects of a kind in the order of their names. */
  list(resource: Resource): readonly ApiObject[] {
    const table = this.#objects.get(tableOf(resource)) ?? new Map<string, ApiObject>();
    return [...table]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, object]) => object);
  }

  /** Puts an object back as it was before this store, which nobody is told of. Whatever is written next is newer. */
  restore(resource: Resource, object: ApiObject): void {
    const table = this.#objects.getOrInsertComputed(tableOf(resource), () => new Map());
    const version = Number(object.metadata.resourceVersion ?? 0) || this.#version;
    table.set(placeOf(object.metadata), withVersion(object, version));
    this.#version = Math.max(this.#version, version);
    this.#compacted = this.#version;
  }

  /** Writes a new version of an object and returns it. */
  put(resource: Resource, object: ApiObject): ApiObject {
    const table = this.#objects.getOrInsertComputed(tableOf(resource), () => new Map());
    const before = table.get(placeOf(object.metadata));
    const after = withVersion(object, this.#version + 1);
    this.#keeper?.put(resource, after, before);
    this.#version++;
    table.set(placeOf(object.metadata), after);
    this.#tell(resource, before, after);
    return after;
  }

  /** Removes an object and returns its last version, which is a new one. */
  remove(resource: Resource, key: ObjectKey): ApiObject | undefined {
    const table = this.#objects.get(tableOf(resource));
    const before = table?.get(placeOf(key));
    if (table === undefined || before === undefined) return undefined;
    this.#keeper?.remove(resource, key);
    table.delete(placeOf(key));
    const last = withVersion(before, ++this.#version);
    this.#tell(resource, last, undefined);
    return last;
  }

  /** What happened after a version. @throws ApiFailure if that is not known any more. */
  since(version: number): readonly StoreEvent[] {
    if (version < this.#compacted) throw expired(String(version), this.#compacted);
    return this.#history.filter((event) => event.version > version);
  }

  /** Told of every event from now on; the returned function ends it. */
  listen(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Forgets all that was: watches of an older version are refused from now on. */
  compact(): void {
    this.#version++;
    this.#compacted = this.#version;
    this.#history.length = 0;
  }

  #tell(resource: Resource, before: ApiObject | undefined, after: ApiObject | undefined): void {
    const { apiVersion, plural } = resource;
    const event = { version: this.#version, group: groupOf(apiVersion), plural, before, after };
    this.#history.push(event);
    if (this.#history.length > this.#historyLimit) {
      this.#compacted = this.#history.shift()?.version ?? this.#compacted;
    }
    for (const listener of this.#listeners) listener(event);
  }
}

/** All versions of a kind are one. */
function tableOf({ apiVersion, plural }: Resource): string {
  return `${groupOf(apiVersion)}/${plural}`;
}

function placeOf({ namespace = '', name }: ObjectKey): string {
  return `${namespace}/${name}`;
}

function withVersion(object: ApiObject, version: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}
