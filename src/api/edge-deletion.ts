/**
 * Edges that are being deleted.
 *
 * An Edge with Exposures keeps serving after its deletion, as a PersistentVolumeClaim in use does: a finalizer holds it
 * until the last of its Exposures is gone.
 */
import type { Edge } from './edge.ts';
import type { Exposure } from './exposure.ts';
import type { Finding } from './finding.ts';
import { ROUTES_FINALIZER } from './host-ownership.ts';
import type { TenantRoute } from './tenant-route.ts';

/** Holds a deleted Edge while Exposures use it. */
export const EDGE_PROTECTION_FINALIZER = 'snicket.dev/edge-protection';

/** As many Exposures as a sentence names. */
const MOST_NAMED = 5;

/**
 * Why an Exposure with these TenantRoutes cannot use an Edge: the Edge is being deleted and does not serve the Exposure
 * yet. An Exposure gets its finalizer before its first route. With the finalizer and without a route, its routes are being
 * written, or another client has deleted them: they are created again. The scheduler treats Pods and a PersistentVolumeClaim that is being deleted in the same way.
 */
export function deletionFault(
  { metadata: { finalizers = [] } }: Pick<Exposure, 'metadata'>,
  { metadata: { name, deletionTimestamp } }: Pick<Edge, 'metadata'>,
  routes: readonly Pick<TenantRoute, 'spec'>[],
): Finding | undefined {
  if (deletionTimestamp === undefined) return undefined;
  const edges = [...new Set(routes.map(({ spec }) => spec.edgeRef.name))];
  if (edges.includes(name)) return undefined;
  if (edges.length === 0 && finalizers.includes(ROUTES_FINALIZER)) return undefined;
  const kept = edges.length === 0 ? '' : `. The routes on Edge ${edges.join(' and ')} stay in use`;
  return {
    code: 'EdgeTerminating',
    severity: 'error',
    message: `Edge ${name} is being deleted and accepts no new Exposures${kept}`,
    action: 'set spec.edgeRef to another Edge',
  };
}

/** What holds a deleted Edge, given the keys of the Exposures that use it. */
export function inUseFinding(edge: string, exposures: readonly string[]): Finding {
  const more = exposures.length - MOST_NAMED;
  const named = exposures.slice(0, MOST_NAMED).join(', ');
  return {
    code: 'EdgeTerminating',
    severity: 'error',
    message: `Edge ${edge} is being deleted. It keeps serving the Exposures that use it: ${named}${more > 0 ? ` and ${more} more` : ''}`,
    action: 'delete these Exposures, or set their spec.edgeRef to another Edge',
  };
}
