/**
 * Whose Exposures an Edge takes.
 */
import type { Finding } from './finding.ts';
import type { Edge } from './edge.ts';
import type { Exposure } from './exposure.ts';

/** What is looked at of the Edge. */
export type EdgeOfNamespaces = Pick<Edge, 'metadata'> & {
  readonly spec: Pick<Edge['spec'], 'allowedNamespaces'>;
};

/** As many as a sentence bears. */
const MOST_NAMED = 10;

/** That an Edge takes no Exposures of this namespace. The API server cannot see it: the Edge is another object. */
export function namespaceFault(
  { metadata: { namespace } }: Pick<Exposure, 'metadata'>,
  { metadata, spec: { allowedNamespaces } }: EdgeOfNamespaces,
): Finding | undefined {
  if (allowedNamespaces === undefined || allowedNamespaces.includes(namespace)) return undefined;
  const more = allowedNamespaces.length - MOST_NAMED;
  const named = allowedNamespaces.slice(0, MOST_NAMED).join(', ');
  return {
    code: 'NamespaceNotAllowed',
    severity: 'error',
    message: `Edge ${metadata.name} takes no Exposures of namespace ${namespace}, only of ${named}${more > 0 ? ` and ${more} more` : ''}`,
    action: `make the Exposure in one of these, choose another Edge, or let ${namespace} be added to spec.allowedNamespaces of the Edge`,
  };
}
