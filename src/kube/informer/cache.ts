/**
 * The cache of an informer: objects by key and by index. No clock, no network.
 */
import { assertWithin, sizeBytes, type InformerBounds } from './bounds.ts';
import { KeySets } from '../key-sets.ts';
import { readObject } from '../object-read.ts';
import { keyText, type KubeObject, type ObjectKey } from '../object.ts';

/** A change of an object. The `object` of a DELETED change is its last known state. */
export type Change<T extends KubeObject> =
  | { readonly type: 'ADDED'; readonly object: T }
  | { readonly type: 'MODIFIED'; readonly object: T; readonly previous: T }
  | { readonly type: 'DELETED'; readonly object: T };

/** Returns the index values of an object. */
export type IndexValues<T> = (object: T) => readonly string[];

/**
 * Objects of one kind. Each update returns the changes that it caused. An object that an index function fails for is an
 * error (KubeError `Malformed`) and changes nothing. The same applies to an object that exceeds the bounds.
 */
export class InformerCache<T extends KubeObject> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #indexes: ReadonlyMap<string, Index<T>>;
  readonly #bounds: InformerBounds | undefined;
  /** Total size of all objects. 0 without bounds. */
  #bytes = 0;

  constructor(indexes: Readonly<Record<string, IndexValues<T>>> = {}, bounds?: InformerBounds) {
    this.#bounds = bounds;
    this.#indexes = new Map(
      Object.entries(indexes).map(([name, valuesOf]) => [name, { valuesOf, keys: new KeySets() }]),
    );
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#entries.get(keyText(key))?.object;
  }

  list(): readonly T[] {
    return [...this.#entries.values()].map(({ object }) => object);
  }

  /** @throws RangeError if there is no such index */
  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new RangeError(`there is no index "${name}"`);
    const found: T[] = [];
    for (const key of index.keys.get(value)) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) found.push(entry.object);
    }
    return found;
  }

  /** Stores the current state of an object. */
  put(object: T): readonly Change<T>[] {
    const entry = this.#entryOf(object);
    const known = this.#entries.get(keyText(object.metadata));
    if (this.#bounds !== undefined) {
      const objects = this.#entries.size + (known === undefined ? 1 : 0);
      const bytes = this.#bytes + entry.bytes - (known?.bytes ?? 0);
      assertWithin({ objects, bytes }, this.#bounds);
    }
    return this.#put(entry);
  }

  /** Removes an object. `object` is its last state. */
  remove(object: T): readonly Change<T>[] {
    const key = keyText(object.metadata);
    const previous = this.#entries.get(key);
    if (previous === undefined) return [];
    this.#delete(key, previous);
    return [{ type: 'DELETED', object }];
  }

  /**
   * Replaces all objects. The bounds are checked during the list. Deletions come first, since the name of a deleted
   * object may be in use again.
   */
  replace(objects: readonly T[]): readonly Change<T>[] {
    const entries = objects.map((object) => this.#entryOf(object));
    const present = new Set(objects.map(({ metadata }) => keyText(metadata)));
    const deleted = this.list().filter(({ metadata }) => !present.has(keyText(metadata)));
    return [
      ...deleted.flatMap((object) => this.remove(object)),
      ...entries.flatMap((entry) => this.#put(entry)),
    ];
  }

  /** Computes size and index values. All that can fail happens here, before anything is stored. */
  #entryOf(object: T): Entry<T> {
    const bytes = this.#bounds === undefined ? 0 : sizeBytes(object);
    if (this.#indexes.size === 0) return { object, bytes, values: NO_VALUES };
    const values = readObject(object, () =>
      [...this.#indexes.values()].map(({ valuesOf }) => [...valuesOf(object)]),
    );
    return { object, bytes, values };
  }

  #put(entry: Entry<T>): readonly Change<T>[] {
    const { object } = entry;
    const key = keyText(object.metadata);
    const known = this.#entries.get(key);
    if (known === undefined) {
      this.#store(key, entry);
      return [{ type: 'ADDED', object }];
    }
    const previous = known.object;
    // Deleted and recreated between two observations.
    if (previous.metadata.uid !== object.metadata.uid) {
      return [...this.remove(previous), ...this.#put(entry)];
    }
    if (previous.metadata.resourceVersion === object.metadata.resourceVersion) return [];
    this.#delete(key, known);
    this.#store(key, entry);
    return isSame(previous, object) ? [] : [{ type: 'MODIFIED', object, previous }];
  }

  #store(key: string, entry: Entry<T>): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    for (const [keys, value] of this.#indexEntries(entry)) keys.add(value, key);
  }

  #delete(key: string, entry: Entry<T>): void {
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    for (const [keys, value] of this.#indexEntries(entry)) keys.delete(value, key);
  }

  /** Yields the index entries of an object. */
  *#indexEntries({ values }: Entry<T>): Generator<[Index<T>['keys'], string]> {
    for (const [position, { keys }] of [...this.#indexes.values()].entries()) {
      for (const value of values[position] ?? []) yield [keys, value];
    }
  }
}

/**
 * Reports whether all retained fields are unchanged. For example, a heartbeat of a Node is not a change if only its
 * addresses are retained.
 */
function isSame(previous: KubeObject, object: KubeObject): boolean {
  const { resourceVersion } = object.metadata;
  const metadata = {
    ...previous.metadata,
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  return Bun.deepEquals({ ...previous, metadata }, object);
}

/** An object with its values in each index. */
interface Entry<T> {
  readonly object: T;
  readonly bytes: number;
  readonly values: readonly (readonly string[])[];
}

const NO_VALUES: readonly (readonly string[])[] = [];

interface Index<T> {
  readonly valuesOf: IndexValues<T>;
  /** Object keys by value. */
  readonly keys: KeySets;
}
