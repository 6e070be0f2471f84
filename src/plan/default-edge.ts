/**
 * The Edge of Exposures without an edgeRef. Users may annotate several Edges as default. This moves no Exposure from
 * one Edge to another, and each of these Edges reports it.
 */
import { DEFAULT_EDGE_ANNOTATION } from '../api/edge.ts';
import type { Finding } from '../api/finding.ts';
import { keyText, type KubeObject } from '../kube/object.ts';

/**
 * Returns the default Edge for an Exposure: the Edge that it uses, if that is still a default, else the oldest. The
 * result must not depend on the order of the list.
 */
export function defaultEdge(
  edges: readonly KubeObject[],
  current: string | undefined,
): KubeObject | undefined {
  const annotated = defaultEdges(edges);
  return annotated.find(({ metadata }) => metadata.name === current) ?? annotated[0];
}

/** Returns what is wrong with the default annotation of an Edge, given all Edges. */
export function defaultEdgeFinding(
  { metadata }: KubeObject,
  edges: readonly KubeObject[],
): Finding | undefined {
  const value = metadata.annotations?.[DEFAULT_EDGE_ANNOTATION];
  if (value === 'true') return severalDefaultEdges(edges);
  if (value === undefined || value === 'false') return undefined;
  return {
    code: 'DefaultEdgeInvalid',
    severity: 'warning',
    message: `Edge ${metadata.name} has the annotation ${DEFAULT_EDGE_ANNOTATION}: ${JSON.stringify(value.slice(0, 40))}, which is neither "true" nor "false", so it is not a default Edge.`,
    action: 'Set the annotation to "true", or remove it.',
  };
}

/** Returns the finding that several Edges are annotated as default. */
export function severalDefaultEdges(edges: readonly KubeObject[]): Finding | undefined {
  const names = defaultEdges(edges).map(({ metadata }) => metadata.name);
  const [oldest] = names;
  if (oldest === undefined || names.length < 2) return undefined;
  const isPair = names.length === 2;
  const listed = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return {
    code: 'DefaultEdgeInvalid',
    severity: 'warning',
    message: `Edges ${listed} are ${isPair ? 'both' : 'all'} annotated as default. New Exposures use ${oldest}, the ${isPair ? 'older' : 'oldest'} one.`,
    action: `Remove the annotation ${DEFAULT_EDGE_ANNOTATION} from ${isPair ? 'one' : 'all but one'} of them.`,
  };
}

/** Returns the default Edges, oldest first. */
function defaultEdges(edges: readonly KubeObject[]): readonly KubeObject[] {
  return edges
    .filter(({ metadata }) => metadata.annotations?.[DEFAULT_EDGE_ANNOTATION] === 'true')
    .toSorted(
      (a, b) =>
        age(a).localeCompare(age(b)) || keyText(a.metadata).localeCompare(keyText(b.metadata)),
    );
}

function age({ metadata }: KubeObject): string {
  return metadata.creationTimestamp ?? '';
}
