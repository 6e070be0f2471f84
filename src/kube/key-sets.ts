/**
 * An index: the keys of objects by a value that they have in common, such as a host that they claim.
 */
const NONE: ReadonlySet<string> = new Set();

/** Sets of keys by value. A value without keys is not kept. */
export class KeySets {
  readonly #sets = new Map<string, Set<string>>();

  /** Adds a key to the set of a value. */
  add(value: string, key: string): void {
    const keys = this.#sets.get(value);
    if (keys === undefined) this.#sets.set(value, new Set([key]));
    else keys.add(key);
  }

  /** Deletes a key from the set of a value. */
  delete(value: string, key: string): void {
    const keys = this.#sets.get(value);
    keys?.delete(key);
    if (keys?.size === 0) this.#sets.delete(value);
  }

  /** Returns the keys of a value. */
  get(value: string): ReadonlySet<string> {
    return this.#sets.get(value) ?? NONE;
  }

  /** Returns all values that have keys. */
  values(): Iterable<string> {
    return this.#sets.keys();
  }
}
