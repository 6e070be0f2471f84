/**
 * Previous routes of an Exposure: objects of the driver that its Edge had before. They stay until the move is
 * complete, since proxies use the previous edge until their rollout is complete, and clients until their DNS records
 * change.
 */
import type { Finding } from '../api/finding.ts';
import type { Edge } from '../api/edge.ts';
import { objectText, type KubeObject } from '../kube/object.ts';
import { groupOf, RESOURCES } from '../kube/resource.ts';
import { textAt } from '../kube/unstructured.ts';
import { edgeMatch } from './claims/edge-match.ts';
import { warning } from './codes.ts';
import { driverFor, ROUTE_RESOURCES } from './driver-for.ts';

/** Returns those of the prunable objects that are routes of a previous driver of the Edge. */
export function previousRoutes<T extends KubeObject>(
  prunable: readonly T[],
  edge: Edge,
): readonly T[] {
  const routes = kindsOf(ROUTE_RESOURCES);
  const currentKinds = kindsOf(driverFor(edge.spec.driver).requires);
  // Two objects for the same host on one edge would conflict. An object of the current driver's kind stays only if
  // another edge serves it.
  return prunable.filter((object) => {
    const kind = kindOf(object);
    return routes.has(kind) && (!currentKinds.has(kind) || edgeMatch(object, edge) === 'other');
  });
}

/**
 * Returns the finding that previous routes still exist, why, and when they will be deleted; undefined if there are
 * none.
 *
 * @param previous - Objects of a previous driver, and previous TenantRoutes.
 */
export function previousRoutesFinding(
  previous: readonly KubeObject[],
  { spec }: Pick<Edge, 'spec'>,
): Finding | undefined {
  if (previous.length === 0) return undefined;
  const ofUser = previous.filter((object) => isDeletedByUser(object, { spec }));
  if (ofUser.length > 0) {
    const names = ofUser.map(objectText).join(', ');
    return warning(
      'PreviousRoutesRemain',
      `Routes of the previous driver remain: ${names}. A TLS handshake does not show whether these or your routes serve the tenant, so Snicket does not delete them.`,
      'Create your routes, and then delete those of the previous driver.',
    );
  }
  const objects = previous.filter((object) => !isTenantRoute(object));
  const sentence =
    objects.length > 0
      ? `Proxies and clients may still use the previous driver. Snicket deletes ${objects.map(objectText).join(', ')} once all conditions of the Exposure are True with driver ${spec.driver} and DNS points to its Edge.`
      : `Proxies and clients may still use the previous routes. Snicket deletes ${previous.map(objectText).join(', ')} once all conditions of the Exposure are True with the new ones and DNS points to its Edge.`;
  return warning(
    'PreviousRoutesRemain',
    sentence,
    'If this takes long, check the conditions of the Exposure.',
  );
}

/**
 * Reports whether only the user can know when a previous route is unused: with driver None, a handshake through the edge may
 * succeed by the previous route alone.
 */
export function isDeletedByUser(object: KubeObject, { spec }: Pick<Edge, 'spec'>): boolean {
  if (spec.driver !== 'None') return false;
  // The other TenantRoutes are served by no gateway.
  return !isTenantRoute(object) || textAt(object, 'spec', 'driver') === 'snicket';
}

function isTenantRoute(object: KubeObject): boolean {
  return kindOf(object) === kindOf(RESOURCES.tenantRoute);
}

function kindsOf(resources: readonly Pick<KubeObject, 'apiVersion' | 'kind'>[]): Set<string> {
  return new Set(resources.map(kindOf));
}

/** Without the version, since the API serves the same object in several versions. */
function kindOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): string {
  return `${groupOf(apiVersion)} ${kind}`;
}
