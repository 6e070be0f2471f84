/** Computes the changes from the content of a folder and the live objects. Pure. */
import type { Exposure } from '../../api/exposure.ts';
import { exposureKeyOf } from '../../api/host-ownership.ts';
import type { TenantRoute } from '../../api/tenant-route.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import type { FolderFault } from '../folder/fault.ts';
import { identityOf } from '../folder/file-objects.ts';
import type { FolderObject, FolderReading } from '../folder/folder-reader.ts';

/** The file of an object, relative to the folder. */
export const FILE_ANNOTATION = 'snicket.dev/file';

/**
 * An object that is missing from the folder is deleted after this time. A file is briefly empty while it is written,
 * and briefly missing while it is replaced.
 */
export const DELETION_GRACE_MS = 3_000;

/** An unmounted or full disk must not delete a tenant. */
const EMPTIED_TEXT =
  'now empty; its previous objects stay applied. To delete them, remove the folder, the file or the link itself';

/** Returns the message for a folder without any files, although it has live objects. */
export function emptyFolderText(folder: string): string {
  return `the folder ${folder} no longer has any YAML or JSON files; its last objects stay applied. To delete all objects, create an empty file there`;
}

/** The inputs of {@link planSync}. */
export interface SyncInput {
  readonly reading: Pick<FolderReading, 'objects' | 'unknown' | 'unusableTexts' | 'emptyPaths'>;
  /** The live Edges, Exposures and Secrets that come from the folder. */
  readonly live: readonly KubeObject[];
  /** All TenantRoutes. */
  readonly tenantRoutes: readonly TenantRoute[];
  /** Since when objects are missing, by identity. */
  readonly missingSince: ReadonlyMap<string, number>;
  readonly nowMs: number;
}

/** The changes to apply. */
interface SyncPlan {
  readonly apply: readonly FolderObject[];
  readonly remove: readonly KubeObject[];
  /** Input of the next call. */
  readonly missingSince: ReadonlyMap<string, number>;
  readonly faults: readonly FolderFault[];
}

/** Computes what to apply and what to delete. */
export function planSync(input: SyncInput): SyncPlan {
  const { reading, live, tenantRoutes, missingSince, nowMs } = input;
  const isUnknown = isAtOrBelow(reading.unknown);
  const liveBy = new Map(live.map((object) => [identityOf(object), object]));
  const apply: FolderObject[] = [];
  const faults: FolderFault[] = [];
  const kept = new Set<string>();
  for (const found of reading.objects) {
    const identity = identityOf(found.object);
    kept.add(identity);
    const present = liveBy.get(identity);
    // An object that is being deleted is created again once it is gone.
    if (present?.metadata.deletionTimestamp !== undefined) continue;
    const currentFile = present && fileOf(present);
    if (currentFile !== undefined && currentFile < found.file && isUnknown(currentFile)) {
      const sentence = `${identity} is also defined in ${currentFile}, which is invalid; its last valid version there stays applied until that file is valid or removed`;
      faults.push({ file: found.file, sentence });
    } else apply.push(found);
  }
  const absent = live.filter(
    (object) => !kept.has(identityOf(object)) && !isUnknown(fileOf(object)),
  );
  const emptied = reading.emptyPaths.filter((path) =>
    absent.some((object) => isAtOrBelow([path])(fileOf(object))),
  );
  faults.push(...emptied.map((file) => ({ file, sentence: EMPTIED_TEXT })));
  const isEmptied = isAtOrBelow(emptied);
  const missing = absent.filter((object) => {
    if (isEmptied(fileOf(object))) return false;
    const unusableFile = unusableFileNaming(object, reading.unusableTexts);
    if (unusableFile !== undefined) faults.push(movedFault(object, unusableFile));
    return unusableFile === undefined;
  });
  const since = new Map(
    missing.map((object) => {
      const identity = identityOf(object);
      return [identity, missingSince.get(identity) ?? nowMs];
    }),
  );
  const isDue = (object: KubeObject) =>
    nowMs - (since.get(identityOf(object)) ?? nowMs) >= DELETION_GRACE_MS;
  const due = missing.filter(
    (object) => object.metadata.deletionTimestamp === undefined && isDue(object),
  );
  const isNeeded = neededBy(
    live.filter((object) => isBeingRemoved(object, due)),
    tenantRoutes,
  );
  return {
    apply: apply.toSorted(exposuresLast),
    missingSince: since,
    faults,
    remove: due.filter((object) => object.kind === 'Exposure' || !isNeeded(object)),
  };
}

/**
 * Orders Exposures last. Otherwise an Exposure reports missing Secrets that are applied a moment later, and its next
 * reconcile is much later.
 */
function exposuresLast({ object: a }: FolderObject, { object: b }: FolderObject): number {
  return Number(a.kind === 'Exposure') - Number(b.kind === 'Exposure');
}

/** Returns the file of an object. */
export function fileOf({ metadata }: KubeObject): string {
  return metadata.annotations?.[FILE_ANNOTATION] ?? '';
}

/** Returns an unusable file that contains the name of the object: the object may have been moved there. */
function unusableFileNaming(
  { metadata: { name } }: KubeObject,
  texts: ReadonlyMap<string, string>,
): string | undefined {
  const word = new RegExp(`(?<![-.a-z0-9])${name.replaceAll('.', '\\.')}(?![-.a-z0-9])`);
  for (const [file, text] of texts) if (word.test(text)) return file;
  return undefined;
}

function movedFault(object: KubeObject, unusableFile: string): FolderFault {
  const file = fileOf(object);
  const sentence = `${identityOf(object)} is no longer in this file, and ${unusableFile}, which contains that name, is invalid; it stays applied until that file is valid or removed`;
  return { file, sentence };
}

/** Returns whether a file is one of these paths, or below one. */
function isAtOrBelow(paths: readonly string[]): (file: string) => boolean {
  const all = new Set(paths);
  return (file) => {
    for (let path = file; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('/')))) {
      if (all.has(path)) return true;
    }
    return false;
  };
}

function isBeingRemoved(object: KubeObject, due: readonly KubeObject[]): boolean {
  if (object.kind !== 'Exposure') return false;
  return object.metadata.deletionTimestamp !== undefined || due.includes(object);
}

/** Returns which Edges and Secrets are needed to clean up the tenants of these Exposures. */
function neededBy(
  exposures: readonly KubeObject[],
  tenantRoutes: readonly TenantRoute[],
): (object: KubeObject) => boolean {
  const needed = new Set<string>();
  const keys = new Set(exposures.map(({ metadata }) => keyText(metadata)));
  const routes = tenantRoutes.filter((route) => keys.has(exposureKeyOf(route)));
  for (const { name } of routes.map(({ spec }) => spec.edgeRef)) {
    needed.add(identityOf(edgeOf(name)));
  }
  for (const { metadata, spec } of exposures as readonly Partial<Exposure>[]) {
    const { caSecretRef, kubeconfigSecretRef } = spec?.controlPlane ?? {};
    for (const secret of [caSecretRef, kubeconfigSecretRef]) {
      if (secret === undefined) continue;
      const { name } = secret;
      const namespace = metadata?.namespace;
      needed.add(identityOf({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } }));
    }
    const { name } = spec?.edgeRef ?? {};
    if (name !== undefined) needed.add(identityOf(edgeOf(name)));
  }
  return (object) => needed.has(identityOf(object));
}

function edgeOf(name: string): KubeObject {
  return { apiVersion: 'snicket.dev/v1alpha1', kind: 'Edge', metadata: { name } };
}
