/** The inputs for the Exposure of an annotated provider object. */
import type { Edge } from '../api/edge.ts';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { DEFAULT_EDGE_VALUE } from '../providers/shims/annotations.ts';
import { requestedEdge, type ShimContext } from '../providers/shims/shim.ts';
import type { Found } from './found.ts';
import type { ManagementView } from './management-view.ts';
import { handledClasses } from './ingress-classes.ts';
import { isRouteOf } from '../plan/provider-ingress.ts';

/** The objects of a management cluster. */
export type ShimView = Pick<ManagementView, 'exposureIndex' | 'served' | 'all' | 'readErrorOf'>;

/** Returns the context of an object. `existing` is the Exposure of the same name. */
export function shimContext(
  view: ShimView,
  object: KubeObject,
  existing?: KubeObject,
): ShimContext {
  const { namespace } = object.metadata;
  const ingresses = view
    .all(RESOURCES.ingress)
    .filter(({ metadata }) => metadata.namespace === namespace);
  const { value: edge } = edgeFor(view, object);
  return {
    ingressNames: new Set(ingresses.map(({ metadata }) => metadata.name)),
    edgePort: edge?.spec.port,
    ignoredBy: edge?.spec.annotations === 'Ignored' ? edge.metadata.name : undefined,
    handledClasses: handledClasses(edge, view),
    areRoutesOfUser: edge?.spec.driver === 'None',
    // An Exposure takes its hosts from the Ingress.
    isRoute: (ingress) =>
      edge !== undefined && isRouteOf(edge, ingress, ingress.hosts, view.served),
    existing,
  };
}

/**
 * Returns the Edge that the annotation of an object requests, or what is wrong with the annotation.
 */
export function edgeFor(
  { exposureIndex }: Pick<ShimView, 'exposureIndex'>,
  object: KubeObject,
): Found<Edge> {
  const wanted = requestedEdge(object);
  const spec = wanted === DEFAULT_EDGE_VALUE ? {} : { edgeRef: { name: wanted } };
  // The Exposure has the name of the object.
  return exposureIndex.edges.edgeOf({ metadata: object.metadata, spec, annotated: object });
}
