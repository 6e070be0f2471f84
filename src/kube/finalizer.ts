/**
 * Finalizers: as long as ours is there, a deleted object stays until we have cleaned up.
 */
import type { CallOptions, ObjectClient } from './client/client.ts';
import { isKubeError } from './kube-error.ts';
import { isVersionConflict, OutdatedError } from './outdated-error.ts';
import { objectText, type KubeObject } from './object.ts';
import type { Resource } from './resource.ts';

/**
 * Puts a finalizer on an object and returns the object as it is then; undefined if it is gone. One that is being deleted
 * takes no more finalizers and is returned as it is.
 *
 * @throws OutdatedError if the object has changed since it was read; KubeError
 */
export async function addFinalizer<T extends KubeObject>(
  client: ObjectClient,
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
 * @throws OutdatedError if the object has changed since it was read; KubeError
 */
export async function removeFinalizer<T extends KubeObject>(
  client: ObjectClient,
  resource: Resource,
  object: T,
  finalizer: string,
  options: CallOptions = {},
): Promise<T | undefined> {
  return change(client, resource, object, options, ({ finalizers = [] }) =>
    finalizers.includes(finalizer) ? finalizers.filter((one) => one !== finalizer) : undefined,
  );
}

/**
 * A merge patch replaces the whole list, so it names the version that the list was read from. It is not repeated with the
 * current version: whether the finalizer is still needed has to be decided again.
 */
async function change<T extends KubeObject>(
  client: ObjectClient,
  resource: Resource,
  object: T,
  { signal }: CallOptions,
  next: (metadata: KubeObject['metadata']) => readonly string[] | undefined,
): Promise<T | undefined> {
  const finalizers = next(object.metadata);
  if (finalizers === undefined) return object;
  const { name, namespace, resourceVersion } = object.metadata;
  if (resourceVersion === undefined) {
    throw new TypeError(`${objectText(object)} was not read from a server: it has no version`);
  }
  try {
    // Versions are never the same for two objects, so the patch needs no uid.
    const left = finalizers.length === 0 ? null : finalizers;
    const patch = { metadata: { resourceVersion, finalizers: left } };
    return await client.patch<T>(resource, { name, namespace }, 'merge', patch, { signal });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw isVersionConflict(error) ? new OutdatedError(error.message, error) : error;
  }
}
