/**
 * Writes the status of objects, but only if it changes, and only on top of the version that it was computed from.
 *
 * A write comes back through the watch some time later. Until then, statuses are compared with the last response of the
 * server. Otherwise, a status that changes and changes back would be compared with the state before both changes, and
 * the second change would not be written.
 *
 * Every write has the resourceVersion that the reconcile observed, or the version that Snicket's own later writes
 * resulted in. So a process that was paused, or that does not know yet that it has lost the Lease, cannot overwrite
 * later changes.
 */
import type { ObjectClient } from './client/client.ts';
import { isLowerVersion, isNewer, keyText, objectText, type KubeObject } from './object.ts';
import { isVersionConflict, OutdatedError } from './outdated-error.ts';

/** Writes the status of one kind of object. `S` is the type of the status. */
export class StatusWriter<S extends object> {
  readonly #client: ObjectClient;
  readonly #watched: (object: KubeObject) => KubeObject;
  /** By key: written objects that the watch has not delivered yet. */
  readonly #written = new Map<string, KubeObject>();
  /** By key: statuses in writes without a response yet. The watch may deliver them first. */
  readonly #writing = new Map<string, S>();
  /** By key: the latest range of versions with only Snicket's own writes in between. */
  readonly #own = new Map<string, OwnVersions>();
  /** By key: a version known to be outdated. */
  readonly #outdated = new Map<string, string>();

  /** @param watched - Returns the version of an object that the watch has delivered last. Default: the same version. */
  constructor(client: ObjectClient, watched: (object: KubeObject) => KubeObject = (same) => same) {
    this.#client = client;
    this.#watched = watched;
  }

  /** Returns the latest status of an object: from the watch, or from a later write. */
  statusOf(object: KubeObject): S | undefined {
    const seen = this.#watched(object);
    const key = keyText(seen.metadata);
    const written = this.#written.get(key);
    if (written !== undefined && isNewer(written, seen)) return (written as WithStatus<S>).status;
    this.#written.delete(key);
    return (seen as WithStatus<S>).status;
  }

  /**
   * Reports whether a change is another client's change to the status, which must be reverted. Must be called for every
   * change that the watch delivers.
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
   * Returns the object that a reconcile observed, with the version and the finalizers that Snicket's own later writes
   * resulted in.
   */
  latest(observed: KubeObject): KubeObject {
    const base = this.#baseOf(observed);
    if (base === observed.metadata.resourceVersion) return observed;
    const written = this.#written.get(keyText(observed.metadata));
    if (written?.metadata.resourceVersion === base) {
      const { finalizers: _, ...metadata } = observed.metadata;
      return { ...observed, metadata: { ...metadata, ...written.metadata } };
    }
    const seen = this.#watched(observed);
    return seen.metadata.resourceVersion === base ? seen : observed;
  }

  /** Records a write of Snicket that was not to the status, such as of a finalizer. */
  wrote(before: KubeObject, after: KubeObject): void {
    this.#record(before.metadata.resourceVersion, after);
  }

  /**
   * Checks that the version is not known to be outdated. @throws OutdatedError if a write on top of it was rejected
   * before, because the watch is behind
   */
  assertCurrent(seen: KubeObject): void {
    const { resourceVersion = '' } = seen.metadata;
    if (this.#outdated.get(keyText(seen.metadata)) !== resourceVersion) return;
    throw new OutdatedError(
      `${objectText(seen)}: the watch has not delivered the version after ${resourceVersion} yet`,
    );
  }

  /**
   * Writes the status. Returns false if it was unchanged. `observed` is the object that the status was computed from.
   *
   * @throws OutdatedError if another client has changed the object since; KubeError
   */
  async write(observed: KubeObject, status: S, signal: AbortSignal): Promise<boolean> {
    if (Bun.deepEquals(status, this.statusOf(observed))) return false;
    const { apiVersion, kind, metadata } = this.#watched(observed);
    // With the uid, so that the write fails for a new object with the same name.
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

  /** Forgets an object that was deleted. */
  forget(key: string): void {
    this.#written.delete(key);
    this.#own.delete(key);
    this.#outdated.delete(key);
  }

  /**
   * Returns the version that a decision about this object is based on: its own, or the last of Snicket's writes that
   * followed it.
   */
  #baseOf({ metadata }: KubeObject): string {
    const { resourceVersion = '' } = metadata;
    const ownWrites = this.#own.get(keyText(metadata));
    if (ownWrites === undefined) return resourceVersion;
    const { first, last } = ownWrites;
    const isWithin =
      !isLowerVersion(resourceVersion, first) && !isLowerVersion(last, resourceVersion);
    return isWithin ? last : resourceVersion;
  }

  #record(base: string | undefined, after: KubeObject): void {
    const key = keyText(after.metadata);
    const { resourceVersion: last = '' } = after.metadata;
    const ownWrites = this.#own.get(key);
    const first = ownWrites?.last === base ? ownWrites?.first : base;
    this.#own.set(key, { first: first ?? last, last });
    this.#outdated.delete(key);
    this.#written.set(key, versionOf(after));
  }
}

/** A range of versions. */
interface OwnVersions {
  readonly first: string;
  readonly last: string;
}

/** Returns only the fields that are used, since the object is retained until the watch delivers the next version. */
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
