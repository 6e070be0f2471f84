/**
 * Validates and reads objects of an API server. An invalid object is an error like any other invalid response.
 */
import { KubeError } from './kube-error.ts';
import { objectText, type KubeObject } from './object.ts';
import { quoted } from '../text/quote.ts';

/** Reports whether a value has the metadata of an object: a name, and only strings as identifiers. */
export function isObject(
  value: unknown,
): value is Partial<KubeObject> & Pick<KubeObject, 'metadata'> {
  if (!isRecord(value) || !isRecord(value['metadata'])) return false;
  const { name, namespace, uid, resourceVersion } = value['metadata'];
  const texts = [value['apiVersion'], value['kind'], namespace, uid, resourceVersion];
  return (
    typeof name === 'string' &&
    name !== '' &&
    texts.every((text) => text === undefined || typeof text === 'string')
  );
}

/** Reports whether a value is the answer to an access review. It is not stored, and has no name. */
export function isReviewed(value: unknown): value is { readonly status: object } {
  return isRecord(value) && isRecord(value['status']);
}

/** Returns the result of `read`. @throws KubeError `Malformed` if `read` throws any other error */
export function readObject<T extends KubeObject, R>(object: T, read: (object: T) => R): R {
  try {
    return read(object);
  } catch (error) {
    if (error instanceof KubeError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new KubeError(
      'Malformed',
      `${quoted(objectText(object))} is malformed: ${quoted(message)}`,
      { cause: error },
    );
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
