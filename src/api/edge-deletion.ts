/**
 * Edges that are being deleted.
 *
 * An Edge that is in use keeps serving after a user deletes it, like a PersistentVolumeClaim that is in use. A
 * finalizer blocks the deletion until no Exposure uses the Edge.
 */
import type { Edge } from './edge.ts';
import type { Exposure } from './exposure.ts';
import type { Finding } from './finding.ts';
import { ROUTES_FINALIZER } from './host-ownership.ts';
import type { TenantRoute } from './tenant-route.ts';

/** The finalizer that blocks the deletion of an Edge while Exposures use it. */
export const EDGE_PROTECTION_FINALIZER = 'snicket.dev/edge-protection';

/** The number of Exposures that a message lists before it abbreviates. */
const MOST_NAMED = 5;

/**
 * Returns why an Exposure with these TenantRoutes cannot use an Edge that is being deleted and does not serve it yet.
 *
 * The operator adds the finalizer to an Exposure before it creates the first route. An Exposure with the finalizer and
 * without routes may therefore use the Edge: its routes are being created, or another client has deleted them and the
 * operator creates them again. The scheduler treats Pods and a PersistentVolumeClaim that is being deleted in the same
 * way.
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
  const suffix =
    edges.length === 0 ? '' : ` The routes on Edge ${edges.join(' and ')} stay in use.`;
  return {
    code: 'EdgeTerminating',
    severity: 'error',
    message: `Edge ${name} is being deleted and accepts no new Exposures.${suffix}`,
    action: 'Set spec.edgeRef to another Edge.',
  };
}

/** Returns the finding on an Edge that is being deleted and still in use, given the keys of its Exposures. */
export function inUseFinding(edge: string, exposures: readonly string[]): Finding {
  const more = exposures.length - MOST_NAMED;
  const named = exposures.slice(0, MOST_NAMED).join(', ');
  return {
    code: 'EdgeTerminating',
    severity: 'error',
    message: `Edge ${edge} is being deleted. It keeps serving the Exposures that use it: ${named}${more > 0 ? ` and ${more} more` : ''}.`,
    action:
      'Delete these Exposures, or set their spec.edgeRef to another Edge. If it names another Edge already, the move is not complete: see condition Routed of the Exposure.',
  };
}
