/**
 * Why there is no Edge for an Exposure: said of `spec.edgeRef`, or of the annotation that it comes from.
 */
import { DEFAULT_EDGE_ANNOTATION } from '../api/edge.ts';
import type { Finding } from '../api/finding.ts';
import { MANAGED_BY } from '../api/labels.ts';
import { objectText, type KubeObject } from '../kube/object.ts';
import { providerFor } from '../providers/provider-for.ts';
import { EDGE_ANNOTATION } from '../providers/shims/annotations.ts';
import { quoted } from '../text/quote.ts';

/** Whose wish it is, and which Edges there are. */
export interface EdgeRequest {
  /** The object whose annotation it comes from; absent: somebody has written `spec.edgeRef`. */
  readonly askedBy: KubeObject | undefined;
  /** Of the Edges that there are. */
  readonly names: readonly string[];
}

/** It names an Edge that is not there. */
export function edgeNotFound(name: string, { askedBy, names }: EdgeRequest): Finding {
  const place = askedBy === undefined ? 'spec.edgeRef' : annotationOf(askedBy);
  return {
    ...{ code: 'EdgeNotFound', severity: 'error' },
    message: `there is no Edge ${quoted(name)}`,
    action: `create it, or correct ${place} (${knownText(names)})`,
  };
}

/** It names none. `unclear` is what is wrong with those that were to be the default one. */
export function noDefaultEdge(
  unclear: readonly string[],
  { askedBy, names }: EdgeRequest,
): Finding {
  const [lacking, remedy] =
    askedBy === undefined
      ? ['spec.edgeRef is not set', 'set spec.edgeRef']
      : [`${annotationOf(askedBy)} names no Edge`, 'name one there'];
  if (names.length === 0) {
    return {
      ...{ code: 'NoDefaultEdge', severity: 'error' },
      message: `${lacking}, and there is no Edge at all`,
      action: `create one, with the annotation ${DEFAULT_EDGE_ANNOTATION}: "true", or ${remedy}`,
    };
  }
  return {
    ...{ code: 'NoDefaultEdge', severity: 'error' },
    message: [`${lacking}, and no Edge is the default one`, ...unclear].join('; '),
    action: `${remedy} (${knownText(names)}), or annotate an Edge with ${DEFAULT_EDGE_ANNOTATION}: "true"`,
  };
}

/** How many files are named. */
const MOST_FILES = 3;

/** The same where an Edge may be in files that cannot be used: that comes first. */
export function withUnusableFiles(finding: Finding, files: readonly string[]): Finding {
  if (files.length === 0) return finding;
  const more = files.length > MOST_FILES ? ' and others' : '';
  const named = `${files.slice(0, MOST_FILES).join(', ')}${more}`;
  return {
    ...finding,
    message: `${finding.message}; one may be in ${named}, which cannot be used`,
    action: `correct ${named}`,
  };
}

/** The object whose annotation an Exposure was made of; undefined for one that somebody wrote. */
export function annotatedObject({ metadata }: KubeObject): KubeObject | undefined {
  const { labels = {}, ownerReferences = [], namespace } = metadata;
  const isMade = Object.entries(MANAGED_BY).every(([key, value]) => labels[key] === value);
  const owner = ownerReferences.find((one) => one.controller === true);
  if (!isMade || owner === undefined || providerFor(owner) === undefined) return undefined;
  const { apiVersion, kind, name } = owner;
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
}

function annotationOf(object: KubeObject): string {
  return `the annotation ${EDGE_ANNOTATION} of ${objectText(object)}`;
}

function knownText(names: readonly string[]): string {
  if (names.length === 0) return 'there is none';
  return `there ${names.length === 1 ? 'is Edge' : 'are Edges'} ${names.join(', ')}`;
}
