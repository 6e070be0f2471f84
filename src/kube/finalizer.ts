/**
 * Finalizers: as long as ours is there, a deleted object stays until we have cleaned up.
 */
import type { CallOptions, KubeClient } from './client/client.ts';
import { isKubeError } from './kube-error.ts';
import { objectText, type KubeObject } from './object.ts';
import type { Resource } from './resource.ts';

/** Other writers come in between now and then, not for ever. */
const MAX_ATTEMPTS = 5;

/**
 * Puts a finalizer on an object and returns the object as it is then; undefined if it is gone, or another has its name.
 * One that is being deleted takes no more finalizers and is returned as it is.
 *
 * @throws KubeError
 */
export async function addFinalizer<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  object: T,
  finalizer: string,
  options: CallOptions = {},
): Promise<T | undefined> {
  return change(client, resource, object, options, ({ finalizers = [], deletionTimestamp }) =>
    finalizers.includes(finalizer) || deletionTimestamp !== undefined
      ? undefined
      : [...finalizers, finalizer],
  );
}

/**
 * Takes a finalizer off an object; with the last one a deleted object is gone. Returns the object as it is then, undefined
 * if it was gone before.
 *
 * @throws KubeError
 */
export async function removeFinalizer<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  object: T,
  finalizer: string,
  options: CallOptions = {},
): Promise<T | undefined> {
  return change(client, resource, object, options, ({ finalizers = [] }) =>
    finalizers.includes(finalizer) ? finalizers.filter((one) => one !== finalizer) : undefined,
  );
}

/** A merge patch replaces the whole list, so it names the version that the list was read from. */
async function change<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  object: T,
  { signal }: CallOptions,
  next: (metadata: KubeObject['metadata']) => readonly string[] | undefined,
): Promise<T | undefined> {
  const { name, namespace, uid } = object.metadata;
  const key = { name, namespace };
  let live: T | undefined = object;
  for (let attempt = 1; ; attempt++) {
    if (live === undefined || live.metadata.uid !== uid) return undefined;
    const finalizers = next(live.metadata);
    if (finalizers === undefined) return live;
    const { resourceVersion } = live.metadata;
    if (resourceVersion === undefined) {
      throw new TypeError(`${objectText(object)} was not read from a server: it has no version`);
    }
    try {
      // Versions are never the same for two objects, so the patch needs no uid.
      const patch = { metadata: { resourceVersion, finalizers } };
      return await client.patch<T>(resource, key, 'merge', patch, { signal });
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined;
      if (!isKubeError(error, 'Conflict') || attempt >= MAX_ATTEMPTS) throw error;
      live = await client.get<T>(resource, key, { signal });
    }
  }
}
