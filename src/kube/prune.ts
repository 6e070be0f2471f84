/**
 * Deletes what was made for an Exposure and is not wanted any more, and nothing else.
 */
import type { CallOptions, KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { keyText, type KubeObject } from './object.ts';
import { groupOf, type Resource } from './resource.ts';

/** The label of everything that Snicket makes. */
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
/** Its value. */
export const MANAGED_BY = 'snicket';
/** In the management cluster: the Exposure, of the same namespace, that an object was made for. */
export const EXPOSURE_LABEL = 'snicket.dev/exposure';

/** By what our objects are known, besides {@link MANAGED_BY_LABEL}. */
export interface Mark {
  /** All of these. */
  readonly labels: Readonly<Record<string, string>>;
  /** One of their owners. `elsewhere`: they are in another cluster than the Exposure, and can have none. */
  readonly owner: { readonly uid: string } | 'elsewhere';
}

/** Options of {@link prune}. */
export interface PruneOptions extends CallOptions {
  /** The kinds to look at; those that the server does not have are left out. */
  readonly resources: readonly Resource[];
  /** Default: all namespaces, and the objects of none. */
  readonly namespace?: string | undefined;
  readonly mark: Mark;
  /** What is to stay. */
  readonly desired: readonly KubeObject[];
}

/** Deletes objects with our mark that are not desired, and returns them. An object made anew in between stays. */
export async function prune(
  client: KubeClient,
  { resources, namespace, mark, desired, signal }: PruneOptions,
): Promise<readonly KubeObject[]> {
  const labelSelector = Object.entries(labelsOf(mark))
    .map(([label, value]) => `${label}=${value}`)
    .join(',');
  const deleted: KubeObject[] = [];
  for (const resource of resources) {
    const live = await listed(client, resource, {
      namespace: resource.namespaced ? namespace : undefined,
      labelSelector,
      signal,
    });
    for (const object of superfluous(live, desired, mark)) {
      if (await isDeleted(client, resource, object, signal)) deleted.push(object);
    }
  }
  return deleted;
}

/** Those of the live objects that have our mark, are not desired, and are not being deleted already. */
export function superfluous<T extends KubeObject>(
  live: readonly T[],
  desired: readonly KubeObject[],
  mark: Mark,
): readonly T[] {
  const wanted = new Set(desired.map(identity));
  return live.filter(
    (object) =>
      !wanted.has(identity(object)) &&
      isMarked(object, mark) &&
      object.metadata.deletionTimestamp === undefined,
  );
}

/** A selector has said so already: looked at again, since a mistake here deletes what is not ours. */
function isMarked({ metadata }: KubeObject, mark: Mark): boolean {
  const { owner } = mark;
  const { labels = {}, ownerReferences = [] } = metadata;
  const hasLabels = Object.entries(labelsOf(mark)).every(
    ([label, value]) => labels[label] === value,
  );
  const isOwned = owner === 'elsewhere' || ownerReferences.some(({ uid }) => uid === owner.uid);
  return hasLabels && isOwned;
}

function labelsOf({ labels }: Mark): Readonly<Record<string, string>> {
  return { ...labels, [MANAGED_BY_LABEL]: MANAGED_BY };
}

/** The version of a group is no part of it: one object is served in several. */
function identity({ apiVersion, kind, metadata }: KubeObject): string {
  return `${groupOf(apiVersion)} ${kind} ${keyText(metadata)}`;
}

async function listed(
  client: KubeClient,
  resource: Resource,
  options: Parameters<KubeClient['list']>[1],
): Promise<readonly KubeObject[]> {
  try {
    return (await client.list(resource, options)).items;
  } catch (error) {
    // The server does not have the kind, so there is nothing of it.
    if (isKubeError(error, 'NotFound')) return [];
    throw error;
  }
}

async function isDeleted(
  client: KubeClient,
  resource: Resource,
  { metadata: { name, namespace, uid } }: KubeObject,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    return await client.delete(resource, { name, namespace }, { uid, signal });
  } catch (error) {
    // Another object of that name by now: it has not been looked at, so it stays.
    if (isKubeError(error, 'Conflict')) return false;
    throw error;
  }
}
