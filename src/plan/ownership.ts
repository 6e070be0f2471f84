/**
 * Ownership of objects in the management cluster. Snicket finds its objects by label, and the garbage collector deletes
 * them with the Exposure by owner reference. The owner of a whole tenant is the Exposure that its Lease names.
 */
import type { Exposure } from '../api/exposure.ts';
import { exposureLabelValue, routeObjectNames } from '../edges/names.ts';
import { keyText, type KubeObject } from '../kube/object.ts';
import { groupOf, RESOURCES } from '../kube/resource.ts';
import { isTenantRoute } from './tenant-routes.ts';
import { EXPOSURE_LABEL, MANAGED_BY } from '../api/labels.ts';

/**
 * Returns the objects with the labels and owner reference of this Exposure. An Exposure that does not exist in a
 * cluster has no uid and owns nothing yet.
 */
export function ownedBy(
  { apiVersion, kind, metadata: { name, uid } }: Pick<Exposure, 'apiVersion' | 'kind' | 'metadata'>,
  objects: readonly KubeObject[],
): readonly KubeObject[] {
  const owner = { apiVersion, kind, name, controller: true, blockOwnerDeletion: true };
  const labels = { ...MANAGED_BY, [EXPOSURE_LABEL]: exposureLabelValue(name) };
  return objects.map((object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, ...labels },
      ...(uid !== undefined && { ownerReferences: [{ ...owner, uid }] }),
    },
  }));
}

/** Returns the DaemonSet of the proxies among these objects. */
export function proxiesIn(objects: readonly KubeObject[]): KubeObject | undefined {
  return objects.find(({ kind }) => kind === RESOURCES.daemonSet.kind);
}

/** What identifies the objects of an Exposure, in addition to {@link MANAGED_BY}. */
export interface OwnershipMark {
  /** Labels that the objects have. */
  readonly labels: Readonly<Record<string, string>>;
  /** One of the owners of the objects. */
  readonly owner: { readonly uid: string };
}

/** Returns the live objects with this mark that are not desired and not being deleted already. */
export function prunable<T extends KubeObject>(
  live: readonly T[],
  desired: readonly KubeObject[],
  mark: OwnershipMark,
): readonly T[] {
  const wanted = new Set(desired.map(identity));
  return live.filter(
    (object) =>
      !wanted.has(identity(object)) &&
      (isMarked(object, mark) || isTenantRouteOf(object, mark)) &&
      object.metadata.deletionTimestamp === undefined,
  );
}

/** Returns the mark of the objects of an Exposure in the management cluster. */
export function markOf({
  metadata: { name, uid = '' },
}: Pick<KubeObject, 'metadata'>): OwnershipMark {
  return { labels: { [EXPOSURE_LABEL]: exposureLabelValue(name) }, owner: { uid } };
}

/**
 * Returns a predicate for the route objects of an Exposure: those in its plan, and those of an earlier plan that the
 * operator will delete. Other clients can set Snicket's labels and owner references too. An object therefore counts
 * only if it has a planned name, or a name that Snicket generates for this Exposure: the operator corrects or deletes
 * these. An Exposure that does not exist in a cluster has no route objects.
 */
export function ownRoutes(
  exposure: Pick<KubeObject, 'metadata'>,
  planned: readonly KubeObject[],
): (object: KubeObject) => boolean {
  const { name, namespace, uid } = exposure.metadata;
  const wanted = new Set(planned.map(identity));
  const names = new Set(routeObjectNames(name));
  const mark = markOf(exposure);
  return (object) => {
    const { metadata } = object;
    if (uid === undefined || metadata.namespace !== namespace) return false;
    const isPrevious = names.has(metadata.name) && isMarked(object, mark);
    return isPrevious || (wanted.has(identity(object)) && isOwned(object, uid));
  };
}

/**
 * Reports whether Snicket managed an object with a desired name before a restore from backup: it has Snicket's labels,
 * and no owner except Exposures of the same name. A restore drops owner references, or keeps the uid of an Exposure
 * that no longer exists.
 */
export function isAdoptable(live: KubeObject, desired: KubeObject): boolean {
  const { labels: desiredLabels = {}, ownerReferences: owners = [] } = desired.metadata;
  const { labels = {}, ownerReferences = [] } = live.metadata;
  const isLabeled = [...Object.keys(MANAGED_BY), EXPOSURE_LABEL].every(
    (label) => labels[label] !== undefined && labels[label] === desiredLabels[label],
  );
  return (
    isLabeled &&
    ownerReferences.every((owner) =>
      owners.some(
        ({ apiVersion, kind, name }) =>
          apiVersion === owner.apiVersion && kind === owner.kind && name === owner.name,
      ),
    )
  );
}

/**
 * Reports whether an object is a TenantRoute of the Exposure by its labels alone, since a restore from backup may have
 * dropped its owner reference.
 */
function isTenantRouteOf(object: KubeObject, { labels: others }: OwnershipMark): boolean {
  const { labels = {} } = object.metadata;
  const isLabeled = Object.entries({ ...others, ...MANAGED_BY }).every(
    ([label, value]) => labels[label] === value,
  );
  return isTenantRoute(object) && isLabeled;
}

/** Checks the labels again after the label selector, because a mistake here deletes objects of other owners. */
function isMarked(object: KubeObject, { labels: others, owner }: OwnershipMark): boolean {
  const { labels = {} } = object.metadata;
  return (
    Object.entries({ ...others, ...MANAGED_BY }).every(
      ([label, value]) => labels[label] === value,
    ) && isOwned(object, owner.uid)
  );
}

function isOwned({ metadata: { ownerReferences = [] } }: KubeObject, owner: string): boolean {
  return ownerReferences.some(({ uid }) => uid === owner);
}

/** Returns a key without the version of the group, since the API serves the same object in several versions. */
function identity({ apiVersion, kind, metadata }: KubeObject): string {
  return `${groupOf(apiVersion)} ${kind} ${keyText(metadata)}`;
}
