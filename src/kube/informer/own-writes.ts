/**
 * Reads of watched objects that include own writes at once. The watch delivers a write later than its response. A reconcile in
 * between would act on the previous state. Like MutationCache of client-go.
 */
import type { Clock } from '../../clock/clock.ts';
import { isLowerVersion, keyText, type KubeObject, type ObjectKey } from '../object.ts';
import type { Informer } from './informer.ts';

/** How long a write is included that neither the watch nor a list delivers, for example because no connection is open. */
const MAX_AGE_MS = 30_000;

/** What is used of an informer. */
export type CachedObjects<T extends KubeObject> = Pick<
  Informer<T>,
  'get' | 'list' | 'onChange' | 'onList'
>;

interface OwnWrite<T> {
  readonly object: T;
  readonly atMs: number;
}

/** The objects of an informer, with own writes that its watch has not delivered yet. */
export class WithOwnWrites<T extends KubeObject> {
  readonly #informer: CachedObjects<T>;
  readonly #clock: Clock;
  /** By key. */
  readonly #writes = new Map<string, OwnWrite<T>>();

  constructor(informer: CachedObjects<T>, clock: Clock) {
    this.#informer = informer;
    this.#clock = clock;
    // A change that is older than the write, such as a deletion that the write has undone, does not end it.
    informer.onChange(({ object }) => {
      const key = keyText(object.metadata);
      const write = this.#writes.get(key);
      if (write !== undefined && !isOlder(object, write.object)) this.#writes.delete(key);
    });
    // A list shows the result of all earlier writes. It may lack an object that was deleted while no watch was open.
    informer.onList(() => {
      const earlier = [...this.#writes];
      return () => {
        for (const [key, write] of earlier) {
          if (this.#writes.get(key) === write) this.#writes.delete(key);
        }
      };
    });
  }

  /** Records an object that was written, in the form in which the informer caches it. */
  wrote(object: T): void {
    this.#writes.set(keyText(object.metadata), { object, atMs: this.#clock.nowMs() });
  }

  get(key: ObjectKey): T | undefined {
    const cached = this.#informer.get(key);
    return this.#pending(keyText(key), cached) ?? cached;
  }

  list(): readonly T[] {
    const cached = this.#informer.list();
    if (this.#writes.size === 0) return cached;
    const objects = new Map(cached.map((object) => [keyText(object.metadata), object]));
    for (const key of this.#writes.keys()) {
      const pending = this.#pending(key, objects.get(key));
      if (pending !== undefined) objects.set(key, pending);
    }
    return [...objects.values()];
  }

  /** Returns the write that the watch has not delivered yet, if any. */
  #pending(key: string, cached: T | undefined): T | undefined {
    const write = this.#writes.get(key);
    if (write === undefined) return undefined;
    const isDelivered = cached !== undefined && !isOlder(cached, write.object);
    if (!isDelivered && this.#clock.nowMs() - write.atMs <= MAX_AGE_MS) return write.object;
    this.#writes.delete(key);
    return undefined;
  }
}

function isOlder(object: KubeObject, other: KubeObject): boolean {
  const { resourceVersion = '' } = object.metadata;
  return isLowerVersion(resourceVersion, other.metadata.resourceVersion ?? '');
}
