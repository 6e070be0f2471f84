/**
 * Writes the status of objects, each only if it says something new.
 *
 * What was written comes back through a watch, some time later. Until then the last answer of the server counts: else a
 * status that turns and turns back would be compared with one that is older than both, and the turn would stay.
 */
import type { KubeClient } from '../kube/client/client.ts';
import { isNewer, keyText, type KubeObject } from '../kube/object.ts';

/** For one kind of object, whose status is an `S`. */
export class StatusWriter<S extends object> {
  readonly #client: KubeClient;
  /** By key: what the watch has not told yet. */
  readonly #written = new Map<string, KubeObject>();
  /** By key: what the server has not answered yet. The watch may be sooner. */
  readonly #writing = new Map<string, S>();

  constructor(client: KubeClient) {
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

  /** The object with the version and the finalizers that our last write has left it with, if that was later. */
  latest(seen: KubeObject): KubeObject {
    const written = this.#written.get(keyText(seen.metadata));
    if (written === undefined || !isNewer(written, seen)) return seen;
    const { finalizers: _, ...metadata } = seen.metadata;
    return { ...seen, metadata: { ...metadata, ...written.metadata } };
  }

  /** Returns whether there was anything to write. @throws KubeError */
  async write(seen: KubeObject, status: S, signal: AbortSignal): Promise<boolean> {
    if (Bun.deepEquals(status, this.statusOf(seen))) return false;
    const { apiVersion, kind, metadata } = seen;
    // With the uid: an object of the same name that has come in between is another one.
    const { name, namespace, uid = '' } = metadata;
    const applied = { apiVersion, kind, metadata: { name, namespace, uid }, status };
    const key = keyText(metadata);
    this.#writing.set(key, status);
    try {
      const options = { subresource: 'status', force: true, signal } as const;
      this.#written.set(key, versionOf(await this.#client.apply(applied, options)));
    } finally {
      this.#writing.delete(key);
    }
    return true;
  }

  /** The object of this key is gone. */
  forget(key: string): void {
    this.#written.delete(key);
  }
}

/** No more than what is looked at: it stays until the next look. */
function versionOf(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, status } = object as WithStatus<object>;
  const { name, uid, resourceVersion, finalizers, deletionTimestamp } = metadata;
  return {
    ...{ apiVersion, kind },
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
