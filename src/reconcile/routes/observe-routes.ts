/**
 * Observes the routes of one Exposure in the management cluster: decides and writes nothing.
 */
import type { Hosts } from '../../api/hosts.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { resourceOf } from '../../kube/resource.ts';
import { routeFindings } from '../../management/edge-state.ts';
import type { ManagementContext, ManagementView } from '../../management/management-view.ts';
import type { DesiredExposure, Plan } from '../../plan/plan.ts';
import { isTenantRoute } from '../../plan/tenant-routes.ts';
import type { PlannedObject, RouteObservation } from './plan-routes.ts';

/** Observes what planning the routes depends on. @throws KubeError */
export async function observeRoutes(
  cluster: ManagementContext,
  { exposure, edge }: DesiredExposure,
  plan: Pick<Plan, 'management' | 'routes'>,
  signal: AbortSignal,
): Promise<RouteObservation> {
  const { management } = cluster;
  const { client, exposureIndex } = management;
  const owned = management.ownedBy(exposure);
  const planned: PlannedObject[] = [];
  for (const desired of plan.management ?? []) {
    // An object that has lost its labels is not among the owned ones.
    const live =
      owned.find((object) => isSameObject(object, desired)) ??
      (await client.get(resourceOf(desired), desired.metadata, { signal }));
    planned.push({ desired, live });
  }
  const key = keyText(exposure.metadata);
  const hosts = owned.filter(isTenantRoute).map(({ spec }) => spec.host);
  return {
    exposure,
    edge,
    routes: plan.routes,
    planned: plan.management && planned,
    owned,
    lostHosts: new Set(hosts.filter((host) => exposureIndex.isOwnedByAnother(host, key))),
    findings: routeFindings(cluster, exposure, plan, edge),
  };
}

/** The hosts of an Exposure's TenantRoutes that are not among its current hosts, and that it still owns. */
export function previousHosts(
  { tenantRoutes, exposureIndex }: Pick<ManagementView, 'tenantRoutes' | 'exposureIndex'>,
  { metadata }: Pick<KubeObject, 'metadata'>,
  { api, konnectivity }: Partial<Hosts> = {},
): readonly string[] {
  const key = keyText(metadata);
  const hosts = new Set(tenantRoutes.ofExposure(key).map(({ spec }) => spec.host));
  return [...hosts]
    .filter((host) => host !== api && host !== konnectivity)
    .filter((host) => !exposureIndex.isOwnedByAnother(host, key))
    .toSorted();
}

function isSameObject(object: KubeObject, other: KubeObject): boolean {
  return object.kind === other.kind && keyText(object.metadata) === keyText(other.metadata);
}
