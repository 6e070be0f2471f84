/**
 * What an informer knows: objects by key, and by whatever else they are asked for. No clock, no network.
 */
import { keyText, type KubeObject, type ObjectKey } from './object.ts';

/** What became of an object. Of a DELETED one, `object` is the last that is known of it. */
export type Change<T extends KubeObject> =
  | { readonly type: 'ADDED'; readonly object: T }
  | { readonly type: 'MODIFIED'; readonly object: T; readonly previous: T }
  | { readonly type: 'DELETED'; readonly object: T };

/** Under which values an index has an object. */
export type IndexValues<T> = (object: T) => readonly string[];

/** Objects of one kind. What is put in tells what that changed. */
export class InformerCache<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexes: ReadonlyMap<string, Index<T>>;

  constructor(indexes: Readonly<Record<string, IndexValues<T>>> = {}) {
    this.#indexes = new Map(
      Object.entries(indexes).map(([name, valuesOf]) => [name, { valuesOf, keys: new Map() }]),
    );
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(keyText(key));
  }

  list(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** @throws RangeError for an index that there is not. */
  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new RangeError(`there is no index "${name}"`);
    const found: T[] = [];
    for (const key of index.keys.get(value) ?? []) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  /** As it is now. */
  put(object: T): readonly Change<T>[] {
    const key = keyText(object.metadata);
    const previous = this.#objects.get(key);
    if (previous === undefined) {
      this.#store(key, object);
      return [{ type: 'ADDED', object }];
    }
    // Deleted and made again while nobody looked.
    if (previous.metadata.uid !== object.metadata.uid) {
      return [...this.remove(previous), ...this.put(object)];
    }
    if (previous.metadata.resourceVersion === object.metadata.resourceVersion) return [];
    this.#forget(key, previous);
    this.#store(key, object);
    return [{ type: 'MODIFIED', object, previous }];
  }

  /** It is gone; `object` is its last state. */
  remove(object: T): readonly Change<T>[] {
    const key = keyText(object.metadata);
    const previous = this.#objects.get(key);
    if (previous === undefined) return [];
    this.#forget(key, previous);
    return [{ type: 'DELETED', object }];
  }

  /** These, and no others. What is gone comes first: its name may be in use again. */
  replace(objects: readonly T[]): readonly Change<T>[] {
    const present = new Set(objects.map(({ metadata }) => keyText(metadata)));
    const gone = this.list().filter(({ metadata }) => !present.has(keyText(metadata)));
    return [
      ...gone.flatMap((object) => this.remove(object)),
      ...objects.flatMap((object) => this.put(object)),
    ];
  }

  #store(key: string, object: T): void {
    this.#objects.set(key, object);
    for (const { valuesOf, keys } of this.#indexes.values()) {
      for (const value of valuesOf(object)) {
        const known = keys.get(value);
        if (known === undefined) keys.set(value, new Set([key]));
        else known.add(key);
      }
    }
  }

  #forget(key: string, object: T): void {
    this.#objects.delete(key);
    for (const { valuesOf, keys } of this.#indexes.values()) {
      for (const value of valuesOf(object)) {
        const known = keys.get(value);
        known?.delete(key);
        if (known?.size === 0) keys.delete(value);
      }
    }
  }
}

interface Index<T> {
  readonly valuesOf: IndexValues<T>;
  /** The keys of those that have a value. */
  readonly keys: Map<string, Set<string>>;
}
