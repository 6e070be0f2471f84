/**
 * Completes objects in files: with the Exposures that annotations request, as the operator would create them, and with
 * owners, as Cluster API would write them.
 */
import type { Finding } from '../../api/finding.ts';
import { textAt } from '../../kube/unstructured.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { shimContext, type ShimView } from '../../management/shim-context.ts';
import { clusterNameOf } from '../../providers/k0s/control-plane.ts';
import {
  inPreferredVersion,
  isOfKind,
  PROVIDER_RESOURCES,
} from '../../providers/provider-resources.ts';
import { shimFor, shimObstacle } from '../../providers/shims/shim.ts';
import { ASSUMED_APIS } from '../plans/assumed-objects.ts';
import { readerOf } from './object-reader.ts';

/** The Exposures that annotations request. */
export interface RequestedExposures {
  readonly exposures: readonly KubeObject[];
  /** A sentence about each of them for the user, by key. */
  readonly sentences: ReadonlyMap<string, string>;
  /** Findings about the object that requests an Exposure, by the key of the Exposure. */
  readonly findings: ReadonlyMap<string, readonly Finding[]>;
}

/** Returns the requested Exposures that no file has. */
export function requestedExposures(
  objects: readonly KubeObject[],
  view: ShimView & { readonly exposures: readonly KubeObject[] },
): RequestedExposures {
  const exposures: KubeObject[] = [];
  const sentences = new Map<string, string>();
  const findings = new Map<string, readonly Finding[]>();
  for (const object of objects.map(withUid)) {
    const key = keyText(object.metadata);
    const isOfKey = ({ metadata }: KubeObject) => keyText(metadata) === key;
    const existing = [...view.exposures, ...exposures].find(isOfKey);
    const shim = shimFor(object, shimContext(view, object, existing));
    if (shim === undefined) continue;
    const obstacle = shimObstacle(existing, object);
    const shimFindings: readonly Finding[] =
      // The existing Exposure takes precedence, so that this is only a warning.
      obstacle === undefined ? shim.findings : [{ ...obstacle, severity: 'warning' }];
    findings.set(key, [...(findings.get(key) ?? []), ...shimFindings]);
    if (existing !== undefined || shim.exposure === undefined) continue;
    exposures.push(shim.exposure);
    sentences.set(
      key,
      `${objectText(shim.exposure)} is what an annotation of ${objectText(object)} asks for`,
    );
  }
  return { exposures, sentences, findings };
}

/** Adds a uid, by which an Exposure refers to its owner. An object that is in no cluster has none. */
function withUid(object: KubeObject): KubeObject {
  const { uid = `${object.apiVersion} ${objectText(object)}` } = object.metadata;
  return { ...object, metadata: { ...object.metadata, uid } };
}

/**
 * Returns the objects. Each K0smotronControlPlane gets the Cluster that names it in `spec.controlPlaneRef` as its
 * owner.
 */
export function withOwners(objects: readonly KubeObject[]): readonly KubeObject[] {
  const clusters = objects.filter((object) => isOfKind(PROVIDER_RESOURCES.capiCluster, object));
  return objects.map((object) => {
    if (clusterNameOf(object) !== undefined) return object;
    const owner = clusters.find((cluster) => isNamedBy(cluster, object));
    if (owner === undefined) return object;
    const { apiVersion, kind, metadata } = owner;
    const reference = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
    const { ownerReferences = [] } = object.metadata;
    return {
      ...object,
      metadata: { ...object.metadata, ownerReferences: [...ownerReferences, reference] },
    };
  });
}

function isNamedBy(cluster: KubeObject, { kind, metadata }: KubeObject): boolean {
  const named = (field: string) => textAt(cluster, 'spec', 'controlPlaneRef', field);
  return (
    cluster.metadata.namespace === metadata.namespace &&
    named('kind') === kind &&
    named('name') === metadata.name
  );
}

/** The objects of files, with the Exposures that annotations in them request. */
interface FilesManagement {
  readonly objects: readonly KubeObject[];
  readonly management: ManagementSnapshot;
  readonly requested: RequestedExposures;
  /** A placeholder for each Exposure that an annotation requests and that cannot be created. */
  readonly unresolved: readonly KubeObject[];
}

/** Returns the objects of files as a management cluster that serves every API. */
export function filesManagement(files: readonly KubeObject[]): FilesManagement {
  const owned = withOwners(files.map(inPreferredVersion));
  const inFiles = new ManagementSnapshot(owned, ASSUMED_APIS, readerOf(owned));
  const requested = requestedExposures(owned, inFiles);
  const objects = [...owned, ...requested.exposures];
  const management = new ManagementSnapshot(objects, ASSUMED_APIS, readerOf(objects));
  return { objects, management, requested, unresolved: unresolvedIn(requested, management) };
}

function unresolvedIn(
  { findings }: RequestedExposures,
  { exposures }: ManagementSnapshot,
): readonly KubeObject[] {
  const there = new Set(exposures.map(({ metadata }) => keyText(metadata)));
  const { apiVersion, kind } = RESOURCES.exposure;
  return [...findings.keys()]
    .filter((key) => !there.has(key))
    .map((key) => {
      const [namespace = '', name = ''] = key.split('/');
      return { apiVersion, kind, metadata: { name, namespace } };
    });
}
