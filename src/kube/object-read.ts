/**
 * Objects of a server, taken for what they say they are: one that is not is the server's fault, and an error like any
 * other of its answers.
 */
import { KubeError } from './kube-error.ts';
import { objectText, type KubeObject } from './object.ts';
import { quoted } from '../text/quote.ts';

/** Whether this has what all objects have: a name, and nothing in the place of names that is no text. */
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

/** What is made of an object. @throws KubeError, `Malformed` for whatever else `read` throws */
export function readObject<T extends KubeObject, R>(object: T, read: (object: T) => R): R {
  try {
    return read(object);
  } catch (error) {
    if (error instanceof KubeError) throw error;
    const said = error instanceof Error ? error.message : String(error);
    throw new KubeError(
      'Malformed',
      `${quoted(objectText(object))} is not as such an object is: ${quoted(said)}`,
      { cause: error },
    );
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
