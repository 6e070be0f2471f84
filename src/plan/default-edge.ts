/**
 * The Edge of Exposures that name none. Nothing keeps people from annotating two: then nobody is moved from one to the
 * other by that, and both Edges say so.
 */
import { DEFAULT_EDGE_ANNOTATION } from '../api/edge.ts';
import type { Finding } from '../api/finding.ts';
import { keyText, type KubeObject } from '../kube/object.ts';

/**
 * The default one for an Exposure: the one that it is on, if that is a default one still, or else the oldest. Which one
 * that is must not depend on the order of a list.
 */
export function defaultEdge(
  edges: readonly KubeObject[],
  current: string | undefined,
): KubeObject | undefined {
  const annotated = defaultEdges(edges);
  return annotated.find(({ metadata }) => metadata.name === current) ?? annotated[0];
}

/** What is wrong with the annotations of one Edge, among all. */
export function defaultEdgeFinding(
  { metadata }: KubeObject,
  edges: readonly KubeObject[],
): Finding | undefined {
  const value = metadata.annotations?.[DEFAULT_EDGE_ANNOTATION];
  if (value === 'true') return severalDefaultEdges(edges);
  if (value === undefined || value === 'false') return undefined;
  return {
    code: 'DefaultEdgeUnclear',
    severity: 'warning',
    message: `Edge ${metadata.name} has the annotation ${DEFAULT_EDGE_ANNOTATION}: ${JSON.stringify(value.slice(0, 40))}, which is neither "true" nor "false", and so is no default one`,
    action: 'write "true", or take the annotation off',
  };
}

/** That there are several default ones. */
export function severalDefaultEdges(edges: readonly KubeObject[]): Finding | undefined {
  const names = defaultEdges(edges).map(({ metadata }) => metadata.name);
  const [oldest] = names;
  if (oldest === undefined || names.length < 2) return undefined;
  const isPair = names.length === 2;
  const listed = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return {
    code: 'SeveralDefaultEdges',
    severity: 'warning',
    message: `Edges ${listed} are ${isPair ? 'both' : 'all'} annotated as default: ${oldest}, the ${isPair ? 'older' : 'oldest'}, is used for Exposures that are on none of them yet`,
    action: `take the annotation ${DEFAULT_EDGE_ANNOTATION} off ${isPair ? 'one' : 'all but one'}`,
  };
}

/** From the oldest on. */
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
