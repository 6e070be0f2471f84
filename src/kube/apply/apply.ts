/**
 * Server-side apply that writes only if {@link needsApply} finds something to write.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { differences, type Difference } from './differences.ts';
import { APPLIED_ANNOTATION, appliedHash, needsApply } from './needs-apply.ts';
import { removalPatch, extraFields } from './extra-fields.ts';
import type { ApplyOptions, ObjectClient } from '../client/client.ts';
import { keyText, type KubeObject } from '../object.ts';
import { WriteBackoff } from './write-backoff.ts';
import { resourceOf } from '../resource.ts';

/** The outcome of an apply, and the object afterwards. */
export type Applied<T extends KubeObject> =
  | { readonly outcome: 'unchanged'; readonly object: T }
  | { readonly outcome: 'applied'; readonly object: T }
  /**
   * Not applied: another client reverted or deleted the object shortly after the last apply. Wait before the next
   * attempt.
   */
  | {
      readonly outcome: 'held';
      readonly object: T | undefined;
      readonly retryInMs: number;
    };

interface ApplierOptions {
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** The differences that remained after an apply, such as a value that the server normalizes. */
interface Tolerated {
  readonly hash: string;
  readonly differences: readonly Difference[];
}

/** Applies objects to one server. Remembers recent applies, and the differences that remained after them. */
export class Applier {
  readonly #client: ObjectClient;
  readonly #repeats: WriteBackoff;
  /** By kind and key. */
  readonly #tolerated = new Map<string, Tolerated>();

  constructor(client: ObjectClient, { clock = systemClock }: ApplierOptions = {}) {
    this.#client = client;
    this.#repeats = new WriteBackoff(clock);
  }

  /**
   * Applies `desired` if `live`, the last observed state, differs from it.
   *
   * @throws KubeError. For a Conflict, see `conflictOwners`.
   */
  async applyIfNeeded<T extends KubeObject>(
    desired: T,
    live: T | undefined,
    options: Pick<ApplyOptions, 'force' | 'signal' | 'resource'> = {},
  ): Promise<Applied<T>> {
    // Also if nothing is written, so that thousands of quiet tenants take no memory for their last writes.
    this.#repeats.forgetOld();
    const key = `${desired.apiVersion} ${desired.kind} ${keyText(desired.metadata)}`;
    const hash = appliedHash(desired);
    if (live !== undefined && !needsApply(desired, live, this.#toleratedAt(key, hash))) {
      return { outcome: 'unchanged', object: live };
    }
    const retryInMs = this.#repeats.waitMs(key, hash);
    if (retryInMs > 0) {
      return { outcome: 'held', object: live, retryInMs };
    }
    const object = await this.#withoutExtraFields(
      desired,
      await this.#client.apply(withHash(desired, hash), options),
      options,
    );
    this.#repeats.add(key, hash);
    this.#tolerate(key, { hash, differences: differences(desired, object) });
    return { outcome: 'applied', object };
  }

  /** Removes extra fields, which an apply does not remove because another client owns them. */
  async #withoutExtraFields<T extends KubeObject>(
    desired: T,
    applied: T,
    { signal, resource = resourceOf(desired) }: Pick<ApplyOptions, 'signal' | 'resource'>,
  ): Promise<T> {
    const found = extraFields(desired, applied);
    if (found.length === 0) return applied;
    const body = removalPatch(found);
    return this.#client.patch<T>(resource, desired.metadata, 'merge', body, { signal });
  }

  /** The differences tolerated for this hash. Those of an earlier desired state do not count. */
  #toleratedAt(key: string, hash: string): readonly Difference[] | undefined {
    const found = this.#tolerated.get(key);
    return found?.hash === hash ? found.differences : undefined;
  }

  #tolerate(key: string, tolerated: Tolerated): void {
    if (tolerated.differences.length > 0) this.#tolerated.set(key, tolerated);
    else this.#tolerated.delete(key);
  }
}

function withHash<T extends KubeObject>(desired: T, hash: string): T {
  const annotations = { ...desired.metadata.annotations, [APPLIED_ANNOTATION]: hash };
  return { ...desired, metadata: { ...desired.metadata, annotations } };
}
