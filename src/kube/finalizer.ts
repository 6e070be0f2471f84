/**
 * Finalizers. With Snicket's finalizer, a deleted object remains until the cleanup is complete.
 */
import type { CallOptions, ObjectClient } from './client/client.ts';
import { isKubeError } from './kube-error.ts';
import { isVersionConflict, OutdatedError } from './outdated-error.ts';
import { objectText, type KubeObject } from './object.ts';
import type { Resource } from './resource.ts';

/**
 * Adds a finalizer to an object and returns the updated object, or undefined if the object no longer exists. An object
 * that is being deleted accepts no new finalizers and is returned unchanged.
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
  return patchFinalizers(
    client,
    resource,
    object,
    options,
    ({ finalizers = [], deletionTimestamp }) =>
      finalizers.includes(finalizer) || deletionTimestamp !== undefined
        ? undefined
        : [...finalizers, finalizer],
  );
}

/**
 * Removes a finalizer from an object. A deleted object is removed with its last finalizer. Returns the updated object,
 * or undefined if the object no longer exists.
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
  return patchFinalizers(client, resource, object, options, ({ finalizers = [] }) =>
    finalizers.includes(finalizer) ? finalizers.filter((entry) => entry !== finalizer) : undefined,
  );
}

/**
 * Changes the finalizers. A merge patch replaces the whole list, so it has the resourceVersion that the list was read
 * from. It is not retried with the current version, since the caller must decide again whether the finalizer is still
 * needed.
 */
async function patchFinalizers<T extends KubeObject>(
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
    // A resourceVersion is never shared by two objects, so the patch needs no uid.
    const remaining = finalizers.length === 0 ? null : finalizers;
    const patch = { metadata: { resourceVersion, finalizers: remaining } };
    return await client.patch<T>(resource, { name, namespace }, 'merge', patch, { signal });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw isVersionConflict(error) ? new OutdatedError(error.message, error) : error;
  }
}
