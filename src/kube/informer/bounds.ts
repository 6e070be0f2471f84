/**
 * How much an informer keeps of a server that may send whatever it likes, and whether it was asked for.
 */
import type { Selection } from '../client/client.ts';
import { KubeError } from '../kube-error.ts';
import { objectText, type KubeObject } from '../object.ts';
import { quoted } from '../../text/quote.ts';

/** The most that a copy may have. What exceeds it is an error, `Malformed`. */
export interface InformerBounds {
  readonly objects: number;
  /** Of all objects together, as they are kept, as JSON. */
  readonly bytes: number;
}

/** What a copy has, or will have. */
export interface CopySize {
  readonly objects: number;
  readonly bytes: number;
}

/** Of an object as it is kept. */
export function sizeBytes(object: KubeObject): number {
  return Buffer.byteLength(JSON.stringify(object));
}

/** @throws KubeError `Malformed` for a copy that is larger than it may be */
export function assertWithin({ objects, bytes }: CopySize, bounds: InformerBounds): void {
  if (objects > bounds.objects) {
    throw new KubeError('Malformed', `there are more than ${bounds.objects} objects of a kind`);
  }
  if (bytes > bounds.bytes) {
    throw new KubeError('Malformed', `objects of a kind have more than ${bounds.bytes} bytes`);
  }
}

/** @throws KubeError `Malformed` for an object that a selection does not have */
export function assertSelected(object: KubeObject, selection: Selection): void {
  if (isSelected(object, selection)) return;
  const { namespace, labelSelector, fieldSelector } = selection;
  const asked = [namespace, labelSelector, fieldSelector].filter((part) => part !== undefined);
  throw new KubeError(
    'Malformed',
    `${quoted(objectText(object))} was sent, and ${asked.join(' ')} was asked for`,
  );
}

/** As far as selectors are equalities, and fields names: those that Snicket uses. */
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
