/**
 * Writes the status of objects, each only if it says something new, and only on top of the version that it was decided from.
 *
 * What was written comes back through a watch, some time later. Until then the last answer of the server counts: else a
 * status that turns and turns back would be compared with one that is older than both, and the turn would stay.
 *
 * Every write carries the resourceVersion of the object that the reconcile observed, or that our own writes since have left
 * it with. A process that was paused, or does not know yet that it has lost the Lease, cannot overwrite what came after.
 */
import type { ObjectClient } from './client/client.ts';
import { isLowerVersion, isNewer, keyText, objectText, type KubeObject } from './object.ts';
import { isVersionConflict, OutdatedError } from './outdated-error.ts';

/** For one kind of object, whose status is an `S`. */
export class StatusWriter<S extends object> {
  readonly #client: ObjectClient;
  /** By key: what the watch has not told yet. */
  readonly #written = new Map<string, KubeObject>();
  /** By key: what the server has not answered yet. The watch may be sooner. */
  readonly #writing = new Map<string, S>();
  /** By key: the latest versions that followed each other by our own writes alone. */
  readonly #own = new Map<string, OwnVersions>();
  /** By key: a version that is not the current one any more. */
  readonly #outdated = new Map<string, string>();

  constructor(client: ObjectClient) {
    this.#client = client;
  }

  /** The status of an object: as the watch told it, or as it was written since. */
  statusOf(seen: KubeObject): S | undefined {
    const key = keyText(seen.metadata);
    const written = this.#written.get(key);
    if (written !== undefined && isNewer(written, seen)) return (written as WithStatus<S>).status;
    this.#written.delete(key);
    return (seen as WithStatus<S>).status;
  }

  /**
   * To be told of every change that the watch tells. Whether it is somebody else's to the status, which has to be put
   * right then.
   */
  isForeign(seen: KubeObject, previous: KubeObject): boolean {
    const { status } = seen as WithStatus<S>;
    const key = keyText(seen.metadata);
    const written = this.#written.get(key);
    if (written !== undefined && isNewer(written, seen)) return false;
    const isWhatWeWrote = written?.metadata.resourceVersion === seen.metadata.resourceVersion;
    this.#written.delete(key);
    if (isWhatWeWrote || Bun.deepEquals(status, (previous as WithStatus<S>).status)) return false;
    return !Bun.deepEquals(status, this.#writing.get(key));
  }

  /**
   * The object that a reconcile observed, with the version and the finalizers that our own writes since have left it with.
   * `seen` is the object as the watch has it by now.
   */
  latest(observed: KubeObject, seen: KubeObject = observed): KubeObject {
    const base = this.#baseOf(observed);
    if (base === observed.metadata.resourceVersion) return observed;
    const written = this.#written.get(keyText(observed.metadata));
    if (written?.metadata.resourceVersion === base) {
      const { finalizers: _, ...metadata } = observed.metadata;
      return { ...observed, metadata: { ...metadata, ...written.metadata } };
    }
    return seen.metadata.resourceVersion === base ? seen : observed;
  }

  /** Records a write of ours that was not to the status, as of a finalizer. */
  wrote(before: KubeObject, after: KubeObject): void {
    this.#record(before.metadata.resourceVersion, after);
  }

  /** @throws OutdatedError if a write on top of this version was refused already: the watch is behind */
  assertCurrent(seen: KubeObject): void {
    const { resourceVersion = '' } = seen.metadata;
    if (this.#outdated.get(keyText(seen.metadata)) !== resourceVersion) return;
    throw new OutdatedError(
      `${objectText(seen)}: the watch has not delivered the version after ${resourceVersion} yet`,
    );
  }

  /**
   * Returns whether there was anything to write. `observed` is the object that the status was decided from; by default that
   * is `seen`, the object as the watch has it by now.
   *
   * @throws OutdatedError if the object has changed since by another's hand; KubeError
   */
  async write(
    seen: KubeObject,
    status: S,
    signal: AbortSignal,
    observed: KubeObject = seen,
  ): Promise<boolean> {
    if (Bun.deepEquals(status, this.statusOf(seen))) return false;
    const { apiVersion, kind, metadata } = seen;
    // With the uid: an object of the same name that has come in between is another one.
    const { name, namespace, uid = '' } = metadata;
    const resourceVersion = this.#baseOf(observed);
    const version = { name, namespace, uid, resourceVersion };
    const applied = { apiVersion, kind, metadata: version, status };
    const key = keyText(metadata);
    this.#writing.set(key, status);
    try {
      const options = { subresource: 'status', force: true, signal } as const;
      this.#record(resourceVersion, await this.#client.apply(applied, options));
    } catch (error) {
      if (!isVersionConflict(error)) throw error;
      this.#outdated.set(key, resourceVersion);
      throw new OutdatedError(error.message, error);
    } finally {
      this.#writing.delete(key);
    }
    return true;
  }

  /** The object of this key is gone. */
  forget(key: string): void {
    this.#written.delete(key);
    this.#own.delete(key);
    this.#outdated.delete(key);
  }

  /** The version that a decision about this object is based on: its own, or the last of ours that followed it. */
  #baseOf({ metadata }: KubeObject): string {
    const { resourceVersion = '' } = metadata;
    const own = this.#own.get(keyText(metadata));
    if (own === undefined) return resourceVersion;
    const { first, last } = own;
    const isWithin =
      !isLowerVersion(resourceVersion, first) && !isLowerVersion(last, resourceVersion);
    return isWithin ? last : resourceVersion;
  }

  #record(base: string | undefined, after: KubeObject): void {
    const key = keyText(after.metadata);
    const { resourceVersion: last = '' } = after.metadata;
    const own = this.#own.get(key);
    const first = own?.last === base ? own?.first : base;
    this.#own.set(key, { first: first ?? last, last });
    this.#outdated.delete(key);
    this.#written.set(key, versionOf(after));
  }
}

/** A version and one that came later. */
interface OwnVersions {
  readonly first: string;
  readonly last: string;
}

/** No more than what is looked at: it stays until the next look. */
function versionOf(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, status } = object as WithStatus<object>;
  const { name, uid, resourceVersion, finalizers, deletionTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(finalizers !== undefined && { finalizers }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    ...(status !== undefined && { status }),
  };
}

type WithStatus<S> = KubeObject & { readonly status?: S };
