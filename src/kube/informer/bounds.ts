/**
 * Limits and checks for an informer on an untrusted API server.
 */
import type { Selection } from '../client/client.ts';
import { KubeError } from '../kube-error.ts';
import { objectText, type KubeObject } from '../object.ts';
import { quoted } from '../../text/quote.ts';

/** The maximum size of a cache. A larger one is a `Malformed` error. */
export interface InformerBounds {
  readonly objects: number;
  /** Total size of the cached objects as JSON. */
  readonly bytes: number;
}

/** The size of a cache. */
interface CacheSize {
  readonly objects: number;
  readonly bytes: number;
}

/** Returns the size of a cached object. */
export function sizeBytes(object: KubeObject): number {
  return Buffer.byteLength(JSON.stringify(object));
}

/** Checks the size of a cache. @throws KubeError `Malformed` if it exceeds the bounds */
export function assertWithin({ objects, bytes }: CacheSize, bounds: InformerBounds): void {
  if (objects > bounds.objects) {
    throw new KubeError('Malformed', `a cache has more than ${bounds.objects} objects`);
  }
  if (bytes > bounds.bytes) {
    throw new KubeError('Malformed', `a cache has more than ${bounds.bytes} bytes`);
  }
}

/** Checks that an object matches a selection. @throws KubeError `Malformed` if it does not */
export function assertSelected(object: KubeObject, selection: Selection): void {
  if (isSelected(object, selection)) return;
  const { namespace, labelSelector, fieldSelector } = selection;
  const selected = [namespace, labelSelector, fieldSelector].filter((part) => part !== undefined);
  throw new KubeError(
    'Malformed',
    `${quoted(objectText(object))} does not match the selection ${selected.join(' ')}`,
  );
}

/** Supports only what Snicket uses: equality label selectors, and the field `metadata.name`. */
function isSelected({ metadata }: KubeObject, selection: Selection): boolean {
  const { namespace, labelSelector, fieldSelector } = selection;
  if (namespace !== undefined && metadata.namespace !== namespace) return false;
  const { labels = {} } = metadata;
  const hasLabels = equalities(labelSelector).every(([key, value]) => labels[key] === value);
  const name = equalities(fieldSelector).find(([field]) => field === 'metadata.name')?.[1];
  return hasLabels && (name === undefined || metadata.name === name);
}

function equalities(selector = ''): readonly (readonly [string, string])[] {
  return selector.split(',').flatMap((part) => {
    const [, key = '', value = ''] = /^([^=!]+)=([^=]*)$/.exec(part) ?? [];
    return key === '' ? [] : [[key, value] as const];
  });
}
