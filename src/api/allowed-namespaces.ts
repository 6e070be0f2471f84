/**
 * The namespaces whose Exposures an Edge allows.
 */
import { selects, selectorText } from '../kube/label-selector.ts';
import type { Edge } from './edge.ts';
import type { Exposure } from './exposure.ts';
import type { Finding } from './finding.ts';

/** The label that the API server sets on every namespace, with its name as the value. */
const NAME_LABEL = 'kubernetes.io/metadata.name';

/** The labels of a namespace. */
export type NamespaceLabels = Readonly<Record<string, string>>;

/** The fields of an Edge that decide which namespaces it allows. */
export type EdgeOfNamespaces = Pick<Edge, 'metadata'> & {
  readonly spec: Pick<Edge['spec'], 'allowedNamespaces'>;
};

/**
 * Returns the labels of a namespace, including the name label that the API server adds. Objects from files and tests
 * may lack it.
 */
export function labelsOfNamespace(name: string, labels: NamespaceLabels = {}): NamespaceLabels {
  return { [NAME_LABEL]: name, ...labels };
}

/**
 * Returns why an Edge does not allow Exposures in this namespace. CEL validation cannot check this: the Edge is another
 * object.
 */
export function namespaceFault(
  { metadata: { namespace } }: Pick<Exposure, 'metadata'>,
  { metadata, spec: { allowedNamespaces } }: EdgeOfNamespaces,
  labels: NamespaceLabels,
): Finding | undefined {
  const { from, selector } = allowedNamespaces;
  if (from === 'All' || selects(selector, labels)) return undefined;
  return {
    code: 'NamespaceNotAllowed',
    severity: 'error',
    message: `Edge ${metadata.name} does not allow Exposures in namespace ${namespace}, whose labels do not match ${selectorText(selector)}.`,
    action: `Label the namespace to match spec.allowedNamespaces of the Edge, change that field, or choose another Edge.`,
  };
}
