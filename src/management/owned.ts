/**
 * Ownership of objects in the management cluster: whether Snicket manages an object, and for which
 * Exposure.
 */
import { selectorText } from '../kube/label-selector.ts';
import { keyText, type KubeObject, type ObjectKey } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { EXPOSURE_LABEL, MANAGED_BY } from '../api/labels.ts';

/** Selects the objects that Snicket manages. */
export const OWNED_SELECTOR = selectorText({ matchLabels: MANAGED_BY });

/**
 * Returns the Exposure that owns an object by its owner reference; undefined without one. Labels do
 * not count.
 */
export function ownerOf({ metadata }: KubeObject): ObjectKey | undefined {
  const { labels = {}, namespace, ownerReferences = [] } = metadata;
  if (labels[EXPOSURE_LABEL] === undefined) return undefined;
  const { apiVersion, kind } = RESOURCES.exposure;
  const owner = ownerReferences.find(
    (reference) => reference.kind === kind && reference.apiVersion === apiVersion,
  );
  return owner === undefined ? undefined : { namespace, name: owner.name };
}

/** Returns the key of the owner, as an index function. */
export function ownerIndex(object: KubeObject): readonly string[] {
  const owner = ownerOf(object);
  return owner === undefined ? [] : [keyText(owner)];
}

/**
 * Reports whether the Exposure with this uid owns the object. A previous Exposure of the same name has another
 * uid.
 */
export function isOwnedBy({ metadata }: KubeObject, uid: string | undefined): boolean {
  return (metadata.ownerReferences ?? []).some((reference) => reference.uid === uid);
}
