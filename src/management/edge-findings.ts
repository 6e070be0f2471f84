/**
 * Findings that there is no Edge for an Exposure. They name `spec.edgeRef`, or the annotation that requests the
 * Exposure.
 */
import { DEFAULT_EDGE_ANNOTATION } from '../api/edge.ts';
import type { Finding } from '../api/finding.ts';
import { MANAGED_BY } from '../api/labels.ts';
import { hasLabels } from '../kube/label-selector.ts';
import { objectText, type KubeObject } from '../kube/object.ts';
import { providerFor } from '../providers/provider-for.ts';
import {
  EDGE_ANNOTATION,
  KAMAJI_DOMAIN_ANNOTATION,
  REQUESTED_BY_ANNOTATION,
} from '../providers/shims/annotations.ts';
import { quoted } from '../text/quote.ts';
import { sentence } from '../text/sentence.ts';

/** The source of the request for an Edge, and the existing Edges. */
interface EdgeRequest {
  /** The object with the annotation. Undefined if `spec.edgeRef` is the request. */
  readonly annotated: KubeObject | undefined;
  /** The names of all Edges. */
  readonly names: readonly string[];
}

/** Returns the finding that the requested Edge does not exist. */
export function edgeNotFound(name: string, { annotated, names }: EdgeRequest): Finding {
  const place = annotated === undefined ? 'spec.edgeRef' : `the ${annotationOf(annotated)}`;
  return {
    code: 'EdgeNotFound',
    severity: 'error',
    message: `Edge ${quoted(name)} does not exist.`,
    action: `Create it, or correct ${place} (${knownText(names)}).`,
  };
}

/**
 * Returns the finding that no Edge is requested and none is the default. `unclear` has the faults of default
 * annotations.
 */
export function noDefaultEdge(
  unclear: readonly string[],
  { annotated, names }: EdgeRequest,
): Finding {
  const [problem, remedy] = missingName(annotated);
  if (names.length === 0) {
    return {
      code: 'EdgeNotFound',
      severity: 'error',
      message: `${problem}, and no Edge exists.`,
      action: `Create an Edge with the annotation ${DEFAULT_EDGE_ANNOTATION}: "true", or ${remedy}.`,
    };
  }
  return {
    code: 'EdgeNotFound',
    severity: 'error',
    message: [`${problem}, and no Edge is the default.`, ...unclear].join(' '),
    action: sentence(
      `${remedy} (${knownText(names)}), or annotate an Edge with ${DEFAULT_EDGE_ANNOTATION}: "true"`,
    ),
  };
}

/** Returns which field or annotation names no Edge, and how to name one. */
function missingName(annotated: KubeObject | undefined): readonly [string, string] {
  if (annotated === undefined) return ['Field spec.edgeRef is not set', 'set spec.edgeRef'];
  // The annotation of the addon names a domain. It can only use the default Edge.
  return requestingAnnotation(annotated) === EDGE_ANNOTATION
    ? [`The ${annotationOf(annotated)} names no Edge`, 'name an Edge there']
    : [
        `The ${annotationOf(annotated)} uses the default Edge`,
        `name an Edge in the annotation ${EDGE_ANNOTATION} of that object`,
      ];
}

/** The maximum number of files in a message. */
const MOST_FILES = 3;

/** Returns the finding with the invalid files that may contain the Edge, since these must be corrected first. */
export function withUnusableFiles(finding: Finding, files: readonly string[]): Finding {
  if (files.length === 0) return finding;
  const more = files.length > MOST_FILES ? ' and others' : '';
  const named = `${files.slice(0, MOST_FILES).join(', ')}${more}`;
  return {
    ...finding,
    message: `${finding.message} It may be defined in ${named}, which cannot be used.`,
    action: `Correct ${named}.`,
  };
}

/** Returns the object whose annotation requests an Exposure; undefined if a user created the Exposure. */
export function annotatedObject(exposure: KubeObject): KubeObject | undefined {
  const { annotations = {}, ownerReferences = [], namespace } = exposure.metadata;
  const owner = ownerReferences.find((reference) => reference.controller === true);
  if (!hasLabels(exposure, MANAGED_BY) || owner === undefined || providerFor(owner) === undefined)
    return undefined;
  const { apiVersion, kind, name } = owner;
  const requesting = { [annotations[REQUESTED_BY_ANNOTATION] ?? EDGE_ANNOTATION]: '' };
  return {
    apiVersion,
    kind,
    metadata: { name, annotations: requesting, ...(namespace !== undefined && { namespace }) },
  };
}

function annotationOf(object: KubeObject): string {
  return `annotation ${requestingAnnotation(object)} of ${objectText(object)}`;
}

function requestingAnnotation({ metadata: { annotations = {} } }: KubeObject): string {
  const isOfAddon =
    annotations[EDGE_ANNOTATION] === undefined &&
    annotations[KAMAJI_DOMAIN_ANNOTATION] !== undefined;
  return isOfAddon ? KAMAJI_DOMAIN_ANNOTATION : EDGE_ANNOTATION;
}

function knownText(names: readonly string[]): string {
  if (names.length === 0) return 'no Edge exists';
  return `existing ${names.length === 1 ? 'Edge' : 'Edges'}: ${names.join(', ')}`;
}
