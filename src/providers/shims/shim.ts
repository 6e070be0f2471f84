/**
 * Generates Exposures from annotated provider objects: from an annotation, and from the hosts and proxy settings in the
 * spec. Pure. Also reports other objects that serve the same hosts.
 */
import {
  DEFAULT_EDGE_VALUE,
  EDGE_ANNOTATION,
  KAMAJI_DOMAIN_ANNOTATION,
  REQUESTED_BY_ANNOTATION,
} from './annotations.ts';
import { InvalidObjectError } from '../../api/fault.ts';
import { parseExposureStrictly } from '../../api/objects.ts';
import { hasLabels } from '../../kube/label-selector.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { groupOf } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';
import { quoted } from '../../text/quote.ts';
import { MANAGED_BY } from '../../api/labels.ts';
import { fieldsOf, isUsable, recordOf } from '../preparation/record.ts';
import { undone } from '../preparation/undo.ts';
import { providerFor } from '../provider-for.ts';
import { isOfKind, PROVIDER_RESOURCES } from '../provider-resources.ts';
import { kamajiIntent } from './kamaji-intent.ts';
import { k0smotronIntent } from './k0smotron-intent.ts';
import { workerAnnotation } from './retained-worker.ts';
import type { ShimContext, ShimIntent } from './shim-intent.ts';
import { stewardIntent } from './steward-intent.ts';
import { sentence } from '../../text/sentence.ts';

export type { ShimContext } from './shim-intent.ts';

/** The result for an annotated object. */
export interface Shim {
  /** The Exposure to apply. The object owns it, so that they are deleted together. Absent if a finding explains why. */
  readonly exposure?: KubeObject | undefined;
  /**
   * Whether the Edge ignores annotations. An Exposure that an annotation created before is then deleted. Default false.
   */
  readonly isIgnored?: boolean;
  readonly findings: readonly Finding[];
}

/** Returns the Exposure that an object requests; undefined if it requests none. */
export function shimFor(live: KubeObject, context: ShimContext): Shim | undefined {
  const provider = providerFor(live);
  if (provider === undefined || !requestsExposure(live) || isCreatedByProvider(live))
    return undefined;
  if (context.ignoredBy !== undefined) {
    return { isIgnored: true, findings: [annotationIgnored(live, context.ignoredBy)] };
  }
  // Uses the user's own fields, without those that Snicket wrote for the existing Exposure.
  const record = context.existing && recordOf(context.existing);
  const isRecorded = record !== undefined && isUsable(record);
  const object = isRecorded ? undone(live, fieldsOf(record, live)) : live;
  const intent = intentOf(object, context);
  const exposure = exposureOf(live, intent);
  try {
    parseExposureStrictly(exposure);
    return { exposure, findings: intent.findings };
  } catch (error) {
    if (!(error instanceof InvalidObjectError)) throw error;
    return { findings: [invalidExposure(live, error), ...intent.findings] };
  }
}

/** Returns why the Exposure cannot be created: an Exposure with that name does not belong to this object. */
export function shimObstacle(
  existing: KubeObject | undefined,
  owner: KubeObject,
): Finding | undefined {
  if (existing === undefined || isGeneratedFor(existing, owner)) return undefined;
  return {
    code: 'NameConflict',
    severity: 'error',
    message: `${objectText(owner)} requests an Exposure by annotation, but Exposure ${keyText(existing.metadata)} already exists and does not belong to it.`,
    action: `Remove the annotation ${EDGE_ANNOTATION}, or delete that Exposure.`,
  };
}

/**
 * Reports whether Snicket generated the Exposure for this object. An Exposure that a user wrote does not count, even if
 * the object owns it.
 */
export function isGeneratedFor(exposure: KubeObject, { metadata: { uid } }: KubeObject): boolean {
  const { ownerReferences = [] } = exposure.metadata;
  return (
    hasLabels(exposure, MANAGED_BY) &&
    ownerReferences.some((owner) => owner.controller === true && owner.uid === uid)
  );
}

/**
 * Reports whether Snicket generated the Exposure for a deleted object of the same name, so that the garbage collector
 * will delete it.
 */
export function isGeneratedForPrevious(
  existing: KubeObject,
  { apiVersion, kind, metadata: { name, uid } }: KubeObject,
): boolean {
  const { ownerReferences = [] } = existing.metadata;
  const previous = ownerReferences.find(({ controller }) => controller === true);
  if (previous === undefined || previous.uid === uid || previous.name !== name) return false;
  const isSameKind = previous.kind === kind && groupOf(previous.apiVersion) === groupOf(apiVersion);
  return isSameKind && isGeneratedFor(existing, { ...existing, metadata: previous });
}

/** Reports whether an object of a provider has an annotation that requests an Exposure. */
export function requestsExposure({ metadata, ...object }: KubeObject): boolean {
  const { annotations = {}, deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined) return false;
  return (
    annotations[EDGE_ANNOTATION] !== undefined ||
    (isOfKind(PROVIDER_RESOURCES.kamaji, object) &&
      annotations[KAMAJI_DOMAIN_ANNOTATION] !== undefined)
  );
}

/** Returns the name of the Edge that an annotated object requests, {@link DEFAULT_EDGE_VALUE} for the default one. */
export function requestedEdge({ metadata: { annotations = {} } }: KubeObject): string {
  return annotations[EDGE_ANNOTATION] ?? DEFAULT_EDGE_VALUE;
}

/**
 * Reports whether a K0smotronControlPlane owns the object: k0smotron copies annotations from it to its Cluster, and one
 * Exposure is enough.
 */
function isCreatedByProvider({ metadata }: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some((owner) =>
    isOfKind(PROVIDER_RESOURCES.k0smotronControlPlane, owner),
  );
}

function intentOf(object: KubeObject, context: ShimContext): ShimIntent {
  if (isOfKind(PROVIDER_RESOURCES.kamaji, object)) return kamajiIntent(object, context);
  if (isOfKind(PROVIDER_RESOURCES.steward, object)) return stewardIntent(object, context);
  return k0smotronIntent(object, context);
}

function exposureOf({ apiVersion, kind, metadata }: KubeObject, intent: ShimIntent): KubeObject {
  const { name, namespace, uid = '', annotations = {} } = metadata;
  const edge = annotations[EDGE_ANNOTATION] ?? DEFAULT_EDGE_VALUE;
  const { hosts, worker } = intent;
  const recorded = {
    ...(annotations[EDGE_ANNOTATION] === undefined && {
      [REQUESTED_BY_ANNOTATION]: KAMAJI_DOMAIN_ANNOTATION,
    }),
    ...workerAnnotation(worker),
  };
  const object = {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: {
      name,
      namespace,
      labels: { ...MANAGED_BY },
      ...(Object.keys(recorded).length > 0 && { annotations: recorded }),
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: {
      ...(edge !== DEFAULT_EDGE_VALUE && { edgeRef: { name: edge } }),
      controlPlane: { type: 'Object', objectRef: { group: groupOf(apiVersion), kind, name } },
      ...(Object.keys(hosts).length > 0 && { hosts }),
      ...(Object.keys(worker).length > 0 && { worker }),
    },
  };
  return object;
}

function annotationIgnored(object: KubeObject, edge: string): Finding {
  return {
    code: 'AnnotationIgnored',
    severity: 'error',
    message: `${objectText(object)} requests an Exposure by annotation, but Edge ${edge} ignores annotations.`,
    action: `Create the Exposure yourself, or set spec.annotations of Edge ${edge} to Allowed.`,
  };
}

function invalidExposure(object: KubeObject, error: InvalidObjectError): Finding {
  return {
    code: 'AnnotationIgnored',
    severity: 'error',
    message: sentence(
      `${objectText(object)} requests an invalid Exposure by annotation: ${quoted(error.message, 600)}`,
    ),
    action: 'Correct the annotation or the spec of that object, or create the Exposure yourself.',
  };
}
