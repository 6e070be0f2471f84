/**
 * Which objects of the management cluster are ours, and for which Exposure they were made.
 */
import { keyText, type KubeObject, type ObjectKey } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { EXPOSURE_LABEL, MANAGED_BY } from '../api/labels.ts';

/** The objects that Snicket itself has made, wherever they come from. */
export const OWNED_SELECTOR = Object.entries(MANAGED_BY)
  .map(([key, value]) => `${key}=${value}`)
  .join(',');

/** The Exposure that an object of ours was made for; undefined for a stranger's, whatever its labels say. */
export function ownerOf({ metadata }: KubeObject): ObjectKey | undefined {
  const { labels = {}, namespace, ownerReferences = [] } = metadata;
  if (labels[EXPOSURE_LABEL] === undefined) return undefined;
  const { apiVersion, kind } = RESOURCES.exposure;
  const owner = ownerReferences.find(
    (reference) => reference.kind === kind && reference.apiVersion === apiVersion,
  );
  return owner === undefined ? undefined : { namespace, name: owner.name };
}

/** For an index by owner. */
export function ownerIndex(object: KubeObject): readonly string[] {
  const owner = ownerOf(object);
  return owner === undefined ? [] : [keyText(owner)];
}

/** An object that merely looks like ours, or that an Exposure of the same name left, is not touched. */
export function isOwnedBy({ metadata }: KubeObject, uid: string | undefined): boolean {
  return (metadata.ownerReferences ?? []).some((reference) => reference.uid === uid);
}
