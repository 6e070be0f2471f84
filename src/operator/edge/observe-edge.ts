/**
 * Observes one Edge: reads everything that its plan depends on, decides and writes nothing.
 */
import type { Edge, EdgeStatus } from '../../api/edge.ts';
import type { Finding } from '../../api/finding.ts';
import type { Clock } from '../../clock/clock.ts';
import type { EdgeContext } from '../../edges/driver.ts';
import type { KubeError } from '../../kube/kube-error.ts';
import { parseKey, type KubeObject } from '../../kube/object.ts';
import { edgeContext, edgeReadError } from '../../management/edge-state.ts';
import type { ManagementContext } from '../../management/management-view.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';

/** The management cluster that is observed. */
export interface ObserveEdgeDeps extends ManagementContext {
  readonly management: ManagementCluster;
  /** Whether a finalizer holds a deleted Edge while Exposures use it. */
  readonly protectsEdges: boolean;
  readonly clock: Clock;
}

/** What the management cluster says about an Edge. */
export interface EdgeObservation {
  readonly object: KubeObject;
  /** As it was last written. */
  readonly status: EdgeStatus | undefined;
  /** The Edge with everything that its driver depends on, or why the Edge cannot be parsed. */
  readonly context: EdgeContext | Finding;
  /** The keys of the Exposures that use it. */
  readonly users: readonly string[];
  /** Route objects of these Exposures. Their status may have the addresses of the Edge. */
  readonly routes: readonly KubeObject[];
  /** Why the kinds that its driver needs cannot be read. */
  readonly readError: KubeError | undefined;
  /** What is wrong with its annotation as the default Edge. */
  readonly defaultFinding: Finding | undefined;
  /** Whether a finalizer holds it while Exposures use it. */
  readonly protectsEdges: boolean;
  readonly now: Date;
}

/** A controller reports the same addresses on every route, so this many are enough. */
const SAMPLED_ROUTES = 100;

/** Observes an Edge. `status` is its status as it was last written. */
export function observeEdge(
  object: KubeObject,
  status: EdgeStatus | undefined,
  deps: ObserveEdgeDeps,
): EdgeObservation {
  const { management, protectsEdges, clock } = deps;
  const { exposureIndex } = management;
  const { value: edge, finding } = exposureIndex.edges.edgeIn(object);
  const users = [...exposureIndex.usersOf(object.metadata.name)];
  return {
    object,
    status,
    context: edge === undefined ? finding : edgeContext(deps, edge),
    users,
    routes: edge === undefined ? [] : sampledRoutes(edge, users, management),
    readError: edge && edgeReadError(management, edge),
    defaultFinding: exposureIndex.edges.defaultFinding(object),
    protectsEdges,
    now: clock.now(),
  };
}

/** None if the addresses do not come from the status of routes. */
function sampledRoutes(
  { spec }: Edge,
  users: readonly string[],
  management: ManagementCluster,
): readonly KubeObject[] {
  const routes: KubeObject[] = [];
  if (spec.addresses !== undefined || spec.driver === 'snicket') return routes;
  for (const key of users) {
    if (routes.length >= SAMPLED_ROUTES) break;
    const exposure = management.exposures.get(parseKey(key));
    if (exposure !== undefined) routes.push(...management.ownedBy(exposure));
  }
  return routes;
}
