/**
 * Whose an object of the management cluster is: by the label it is found, by the owner it goes when the Exposure does.
 * A tenant as a whole belongs to the Exposure that its Lease names.
 */
import type { Exposure } from '../api/exposure.ts';
import { exposureLabelValue, routeObjectNames } from '../edges/names.ts';
import { keyText, type KubeObject } from '../kube/object.ts';
import { groupOf, RESOURCES } from '../kube/resource.ts';
import { isTenantRoute } from './tenant-routes.ts';
import { EXPOSURE_LABEL, MANAGED_BY } from '../api/labels.ts';

/** The objects as those of this Exposure. One that is in no cluster has no uid, and owns nothing yet. */
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

/** The DaemonSet of the proxies. */
export function proxiesIn(objects: readonly KubeObject[]): KubeObject | undefined {
  return objects.find(({ kind }) => kind === RESOURCES.daemonSet.kind);
}

/** By what objects are known as those of one Exposure, besides {@link MANAGED_BY}. */
export interface Mark {
  /** All of these. */
  readonly labels: Readonly<Record<string, string>>;
  /** One of their owners. */
  readonly owner: { readonly uid: string };
}

/** Those of the live objects that have the mark, are not desired, and are not being deleted already. */
export function superfluous<T extends KubeObject>(
  live: readonly T[],
  desired: readonly KubeObject[],
  mark: Mark,
): readonly T[] {
  const wanted = new Set(desired.map(identity));
  return live.filter(
    (object) =>
      !wanted.has(identity(object)) &&
      (isMarked(object, mark) || isTenantRouteOf(object, mark)) &&
      object.metadata.deletionTimestamp === undefined,
  );
}

/** The mark of what was made for an Exposure in the management cluster. */
export function markOf({ metadata: { name, uid = '' } }: Pick<KubeObject, 'metadata'>): Mark {
  return { labels: { [EXPOSURE_LABEL]: exposureLabelValue(name) }, owner: { uid } };
}

/**
 * Which route objects are those of an Exposure: what its plan makes, and what an earlier plan has made, which goes by
 * itself. Anybody can write our labels and our owner on an object; so one counts only at a place and with a name
 * that make the operator change or delete it if it is not as planned. None for an Exposure that is in no cluster.
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
    const isFormer = names.has(metadata.name) && isMarked(object, mark);
    return isFormer || (wanted.has(identity(object)) && isOwned(object, uid));
  };
}

/**
 * Whether an object with a name that we need was ours before a restore from backup: it has our labels, and no owner but
 * Exposures of the same name. A restore drops owner references, or keeps the uid of an Exposure that is gone.
 */
export function isAdoptable(live: KubeObject, desired: KubeObject): boolean {
  const { labels: own = {}, ownerReferences: owners = [] } = desired.metadata;
  const { labels = {}, ownerReferences = [] } = live.metadata;
  const isLabeled = [...Object.keys(MANAGED_BY), EXPOSURE_LABEL].every(
    (label) => labels[label] !== undefined && labels[label] === own[label],
  );
  return (
    isLabeled &&
    ownerReferences.every((one) =>
      owners.some(
        ({ apiVersion, kind, name }) =>
          apiVersion === one.apiVersion && kind === one.kind && name === one.name,
      ),
    )
  );
}

/** A TenantRoute says in its spec which Exposure it is for: a restore from backup may have dropped its owner. */
function isTenantRouteOf(object: KubeObject, { labels: others }: Mark): boolean {
  const { labels = {} } = object.metadata;
  const isLabeled = Object.entries({ ...others, ...MANAGED_BY }).every(
    ([label, value]) => labels[label] === value,
  );
  return isTenantRoute(object) && isLabeled;
}

/** A selector has said so already: looked at again, since a mistake here deletes what is not ours. */
function isMarked(object: KubeObject, { labels: others, owner }: Mark): boolean {
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

/** The version of a group is no part of it: one object is served in several. */
function identity({ apiVersion, kind, metadata }: KubeObject): string {
  return `${groupOf(apiVersion)} ${kind} ${keyText(metadata)}`;
}
