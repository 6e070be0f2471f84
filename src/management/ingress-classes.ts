/**
 * The ingress classes of the management cluster.
 */
import type { Edge } from '../api/edge.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { ManagementView } from './management-view.ts';

/** Returns the ingress classes that a controller may handle; undefined if the classes of the cluster are unknown. */
export function handledClasses(
  edge: Pick<Edge, 'spec'> | undefined,
  view: Pick<ManagementView, 'served' | 'all' | 'readErrorOf'>,
): ReadonlySet<string> | undefined {
  const { ingressClass } = RESOURCES;
  const isUnread = view.readErrorOf(ingressClass) !== undefined;
  if (!view.served.has(ingressClass) || isUnread) return undefined;
  const className = edge?.spec.ingress?.className;
  return new Set([
    ...view.all(ingressClass).map(({ metadata }) => metadata.name),
    ...(className === undefined ? [] : [className]),
  ]);
}
