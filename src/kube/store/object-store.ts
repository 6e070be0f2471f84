/**
 * The objects of an API server, their versions, and listeners for changes.
 */
import type { KubeObject, ObjectKey } from '../object.ts';
import { groupOf, type Resource } from '../resource.ts';
import { expired } from './api-failure.ts';

/** An object whose fields have not been validated. Never changed in place. */
export interface ApiObject extends KubeObject {
  readonly [field: string]: unknown;
}

/** A change of an object. */
export interface StoreEvent {
  readonly version: number;
  readonly group: string;
  readonly plural: string;
  /** Absent if the object was created. */
  readonly before: ApiObject | undefined;
  /** Absent if the object was deleted. `before` then has the version of the deletion. */
  readonly after: ApiObject | undefined;
}

interface StoreOptions {
  /** The number of past events that a watch can start from. */
  readonly historyLimit: number;
  /** Default: objects are kept in memory only. */
  readonly persistence?: ObjectPersistence | undefined;
}

/** Persists every version before it takes effect. If it throws, the write fails and nothing changes. */
export interface ObjectPersistence {
  put(resource: Resource, object: ApiObject, before: ApiObject | undefined): void;
  remove(resource: Resource, key: ObjectKey): void;
}

/** Stores objects. It assigns versions and does not interpret contents. */
export class ObjectStore {
  readonly #objects = new Map<string, Map<string, ApiObject>>();
  readonly #history: StoreEvent[] = [];
  readonly #listeners = new Set<(event: StoreEvent) => void>();
  readonly #historyLimit: number;
  readonly #persistence: ObjectPersistence | undefined;
  #version = 1;
  /** Events up to this version are no longer available. */
  #compacted = 1;

  constructor({ historyLimit, persistence: keeper }: StoreOptions) {
    this.#historyLimit = historyLimit;
    this.#persistence = keeper;
  }

  /** The current resourceVersion. */
  get version(): number {
    return this.#version;
  }

  get(resource: Resource, key: ObjectKey): ApiObject | undefined {
    return this.#objects.get(tableOf(resource))?.get(keyIn(key));
  }

  /** Returns all objects of a kind, sorted by name. */
  list(resource: Resource): readonly ApiObject[] {
    const table = this.#objects.get(tableOf(resource)) ?? new Map<string, ApiObject>();
    return [...table].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** Restores an object from before this store was created, without an event. Later writes get higher versions. */
  restore(resource: Resource, object: ApiObject): void {
    const table = this.#objects.getOrInsertComputed(tableOf(resource), () => new Map());
    const version = Number(object.metadata.resourceVersion ?? 0) || this.#version;
    table.set(keyIn(object.metadata), withVersion(object, version));
    this.#version = Math.max(this.#version, version);
    this.#compacted = this.#version;
  }

  /** Writes a new version of an object and returns it. */
  put(resource: Resource, object: ApiObject): ApiObject {
    const table = this.#objects.getOrInsertComputed(tableOf(resource), () => new Map());
    const before = table.get(keyIn(object.metadata));
    const after = withVersion(object, this.#version + 1);
    this.#persistence?.put(resource, after, before);
    this.#version++;
    table.set(keyIn(object.metadata), after);
    this.#notify(resource, before, after);
    return after;
  }

  /** Removes an object and returns its last version, which is a new one. */
  remove(resource: Resource, key: ObjectKey): ApiObject | undefined {
    const table = this.#objects.get(tableOf(resource));
    const before = table?.get(keyIn(key));
    if (table === undefined || before === undefined) return undefined;
    this.#persistence?.remove(resource, key);
    table.delete(keyIn(key));
    const last = withVersion(before, ++this.#version);
    this.#notify(resource, last, undefined);
    return last;
  }

  /** Returns the events after a version. @throws ApiFailure if they are no longer available */
  since(version: number): readonly StoreEvent[] {
    if (version < this.#compacted) throw expired(String(version), this.#compacted);
    return this.#history.filter((event) => event.version > version);
  }

  /** Calls the listener for every event until the returned function is called. */
  listen(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Drops the history. Watches from an older version are rejected from now on. */
  compact(): void {
    this.#version++;
    this.#compacted = this.#version;
    this.#history.length = 0;
  }

  #notify(resource: Resource, before: ApiObject | undefined, after: ApiObject | undefined): void {
    const { apiVersion, plural } = resource;
    const event = { version: this.#version, group: groupOf(apiVersion), plural, before, after };
    this.#history.push(event);
    if (this.#history.length > this.#historyLimit) {
      this.#compacted = this.#history.shift()?.version ?? this.#compacted;
    }
    for (const listener of this.#listeners) listener(event);
  }
}

/** All versions of a kind share a table. */
function tableOf({ apiVersion, plural }: Resource): string {
  return `${groupOf(apiVersion)}/${plural}`;
}

function keyIn({ namespace = '', name }: ObjectKey): string {
  return `${namespace}/${name}`;
}

function withVersion(object: ApiObject, version: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}
