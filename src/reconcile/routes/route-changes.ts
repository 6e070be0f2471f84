/**
 * The management side of an Exposure, looked at: what is around its routes, and what has to change for a plan to be in
 * force. Writes nothing.
 */
import { hostFault } from '../../api/allowed-hosts.ts';
import type { Edge } from '../../api/edge.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { resourceOf } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';
import type { Hosts } from '../../api/hosts.ts';
import { isAdoptable, markOf, ownedBy, superfluous } from '../../plan/ownership.ts';
import type { Plan } from '../../plan/plan.ts';
import { isServedBy, isTenantRoute, withCurrentBackend } from '../../plan/tenant-routes.ts';
import type { TenantRoute } from '../../api/tenant-route.ts';
import type { Exposure } from '../../api/exposure.ts';
import { routeFindings } from '../../management/edge-state.ts';
import type { ManagementPlace, ManagementView } from '../../management/management-view.ts';

/** An object as it should be, and as it is; nothing if it is not there. */
export interface WantedObject {
  readonly desired: KubeObject;
  readonly live: KubeObject | undefined;
}

/** What to do, in this order. What is as it should be is among the wanted ones too. */
export interface RouteChanges {
  readonly wanted: readonly WantedObject[];
  /** Somebody else's object with a name that we need: it is left alone, and nothing after it is done. */
  readonly taken?: KubeObject | undefined;
  /** Something keeps the wanted ones from being in force. */
  readonly isBlocked: boolean;
  /** Whether the Exposure has TenantRoutes, and none of them is of the Edge and driver that it asks for. */
  readonly isElsewhere: boolean;
  /** Whether all TenantRoutes were as planned before. */
  readonly isRoutedAsPlanned: boolean;
  /** TenantRoutes that the plan does not want any more, and that stay until the Exposure is Ready by the new ones. */
  readonly previous: readonly TenantRoute[];
  /** All that the plan does not want any more, the previous TenantRoutes included. */
  readonly superfluous: readonly KubeObject[];
}

/**
 * What has to change for a plan. Nothing is superfluous while the new objects cannot be in force: an Edge whose
 * controller is not there yet takes no route away. Undefined if the plan says nothing.
 *
 * @throws KubeError
 */
export async function routeChanges(
  place: ManagementPlace,
  exposure: KubeObject,
  edge: Edge,
  plan: Pick<Plan, 'management' | 'routes'>,
  signal: AbortSignal,
): Promise<RouteChanges | undefined> {
  const { management: objects } = plan;
  if (objects === undefined) return undefined;
  const { management } = place;
  const owned = management.ownedBy(exposure);
  const present = owned.filter(isTenantRoute);
  const isElsewhere = present.length > 0 && !present.some((route) => isServedBy(route, edge));
  const wanted: WantedObject[] = [];
  for (const desired of objects) {
    // One that lost its label is ours still.
    const holder =
      owned.find((object) => isSameObject(object, desired)) ??
      (await management.client.get(resourceOf(desired), desired.metadata, { signal }));
    if (holder !== undefined && !hasOwnerOf(holder, desired) && !isAdoptable(holder, desired)) {
      const nothing = { previous: [], superfluous: [], isRoutedAsPlanned: false };
      const others = wanted.filter(isApplicable(isElsewhere));
      return { wanted: others, taken: holder, isBlocked: true, isElsewhere, ...nothing };
    }
    wanted.push({ desired, live: holder });
  }
  const isBlocked = routeFindings(place, exposure, plan, edge).some(
    ({ severity }) => severity === 'error',
  );
  const previous = isBlocked ? [] : previousRoutes(place, exposure, edge, plan, objects);
  return {
    wanted: [...wanted.filter(isApplicable(isBlocked && isElsewhere)), ...previous],
    isBlocked,
    isElsewhere,
    isRoutedAsPlanned: wanted.every(
      ({ desired, live }) => !isTenantRoute(desired) || isSameRoute(live, desired),
    ),
    previous: previous.flatMap(({ live }) => live),
    superfluous: isBlocked ? [] : superfluous(owned, objects, markOf(exposure)),
  };
}

/** In the middle of a move, TenantRoutes are not written before the new Edge takes routes: the old ones stay in use. */
function isApplicable(isMoving: boolean): (object: WantedObject) => boolean {
  return ({ desired }) => !(isMoving && isTenantRoute(desired));
}

/** The hosts of one move, API and konnectivity. */
const ONE_MOVE = 2;

/**
 * The hosts of two moves: the oldest, which clients use, and the newest, which the proxies may use. By moving again and again
 * an Exposure must not hold more.
 */
function ofTwoMoves<T>(byAge: readonly T[]): readonly T[] {
  if (byAge.length <= 2 * ONE_MOVE) return byAge;
  return [...byAge.slice(0, ONE_MOVE), ...byAge.slice(-ONE_MOVE)];
}

/** Whether the Edge has withdrawn the host of a TenantRoute. Another domain is a move, and withdraws nothing. */
function isWithdrawn({ host, edgeRef }: TenantRoute['spec'], edge: Edge): boolean {
  const isListed = edge.spec.allowedHosts !== undefined && edgeRef.name === edge.metadata.name;
  return isListed && hostFault(host, edge) !== undefined;
}

function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  return (a.creationTimestamp ?? '').localeCompare(b.creationTimestamp ?? '');
}

/** TenantRoutes of hosts or Edges that the plan does not want any more, with the backend that they must have now. */
function previousRoutes(
  { management }: ManagementPlace,
  exposure: KubeObject,
  edge: Edge,
  { routes }: Pick<Plan, 'routes'>,
  planned: readonly KubeObject[],
): readonly { readonly desired: TenantRoute; readonly live: TenantRoute }[] {
  if (routes === undefined) return [];
  const key = keyText(exposure.metadata);
  const { value: wished } = management.exposureIndex.exposureIn(exposure);
  if (wished === undefined) return [];
  const present = management.ownedBy(exposure).filter(isTenantRoute);
  const previous = superfluous(present, planned, markOf(exposure))
    .filter(({ spec }) => !isWithdrawn(spec, edge))
    .toSorted(byAge);
  const kept = previous.flatMap((live) => {
    const [desired] = ownedBy(
      exposure as Exposure,
      [withCurrentBackend(live, routes, wished)].flatMap((route) => route ?? []),
    );
    const isLost = management.exposureIndex.isOwnedByAnother(live.spec.host, key);
    return desired === undefined || isLost ? [] : [{ desired: desired as TenantRoute, live }];
  });
  return ofTwoMoves(kept);
}

/** Whether a TenantRoute leads from the same host to the same backend. Limits and allowed sources may differ. */
function isSameRoute(live: KubeObject | undefined, desired: TenantRoute): boolean {
  const way = ({ spec }: TenantRoute) => {
    const { edgeRef, driver, exposureRef, host, type, backend } = spec;
    return { edgeRef, driver, exposureRef, host, type, backend };
  };
  return live !== undefined && Bun.deepEquals(way(live as TenantRoute), way(desired));
}

/** The hosts of an Exposure's TenantRoutes that are not among its current hosts, and are still its own. */
export function previousHosts(
  { tenantRoutes, exposureIndex }: Pick<ManagementView, 'tenantRoutes' | 'exposureIndex'>,
  { metadata }: Pick<KubeObject, 'metadata'>,
  { api, konnectivity }: Partial<Hosts> = {},
): readonly string[] {
  const key = keyText(metadata);
  const hosts = new Set(tenantRoutes.ofExposure(key).map(({ spec }) => spec.host));
  return [...hosts]
    .filter(
      (host) => host !== api && host !== konnectivity && !exposureIndex.isOwnedByAnother(host, key),
    )
    .toSorted();
}

/** All that was made for an Exposure, to be removed. */
export function madeFor(
  { management }: ManagementPlace,
  exposure: KubeObject,
): readonly KubeObject[] {
  return superfluous(management.ownedBy(exposure), [], markOf(exposure));
}

/** That an object of somebody else has a name that we need. */
export function nameTaken(object: KubeObject): Finding {
  return {
    ...{ code: 'NameTaken', severity: 'error' },
    message: `${objectText(object)} is there and was not made by Snicket`,
    action: 'remove or rename it, or give the Exposure another name',
  };
}

function isSameObject(one: KubeObject, other: KubeObject): boolean {
  return one.kind === other.kind && keyText(one.metadata) === keyText(other.metadata);
}

function hasOwnerOf({ metadata }: KubeObject, desired: KubeObject): boolean {
  const uids = new Set((desired.metadata.ownerReferences ?? []).map(({ uid }) => uid));
  return (metadata.ownerReferences ?? []).some(({ uid }) => uids.has(uid));
}
