/**
 * Plans the route objects of one Exposure: what to write and what to delete in the management cluster. Pure.
 */
import { hostFault } from '../../api/allowed-hosts.ts';
import type { Edge } from '../../api/edge.ts';
import type { Exposure } from '../../api/exposure.ts';
import type { Finding } from '../../api/finding.ts';
import type { TenantRoute } from '../../api/tenant-route.ts';
import { previousRoutes } from '../../edges/previous-routes.ts';
import type { ExposureRoutes } from '../../edges/route.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { isAdoptable, markOf, ownedBy, prunable } from '../../plan/ownership.ts';
import { isServedBy, isTenantRoute, withCurrentBackend } from '../../plan/tenant-routes.ts';

/** A desired object, and the live one of the same name. */
export interface PlannedObject {
  readonly desired: KubeObject;
  readonly live: KubeObject | undefined;
}

/** What the management cluster says about the routes of an Exposure. */
export interface RouteObservation {
  readonly exposure: Exposure;
  readonly edge: Edge;
  /** Absent: the Exposure has no routes. */
  readonly routes: ExposureRoutes | undefined;
  /** The desired objects. Absent: they are unknown, and everything stays as it is. */
  readonly planned: readonly PlannedObject[] | undefined;
  /** Everything that Snicket has created for the Exposure. */
  readonly owned: readonly KubeObject[];
  /** The hosts of owned TenantRoutes that belong to another Exposure. */
  readonly lostHosts: ReadonlySet<string>;
  /** What is wrong with the Edge, and foreign claims. An error blocks the routes. */
  readonly findings: readonly Finding[];
}

/** What the routes of an Exposure are once a {@link RoutePlan} is applied. */
export interface RouteState {
  /** Whether all desired objects are applied. Otherwise the previous ones stay. */
  readonly isApplied: boolean;
  /**
   * Routes of a previous driver, and TenantRoutes of previous hosts, Edges and drivers. Proxies and clients may use them,
   * so they stay until the move is complete.
   */
  readonly previous: readonly KubeObject[];
  /** Whether the Exposure has TenantRoutes, and none for its Edge and driver. */
  readonly isElsewhere: boolean;
  /** Whether all desired TenantRoutes existed before, with the same backend. */
  readonly isRoutedAsPlanned: boolean;
  /** A foreign object has a name that a desired one needs. */
  readonly obstacle?: Finding | undefined;
  /** What is wrong with the Edge, and foreign claims. An error blocks the routes. */
  readonly findings: readonly Finding[];
}

/** What to do. */
export interface RoutePlan extends RouteState {
  /** In this order. Objects that are as desired are among them. */
  readonly apply: readonly PlannedObject[];
  readonly remove: readonly KubeObject[];
}

/**
 * The plan for the routes of an Exposure. While the Edge cannot serve the new routes, nothing is removed: an Edge whose
 * controller is not installed yet must not take routes away.
 */
export function planRoutes(observation: RouteObservation): RoutePlan {
  const { exposure, edge, routes, planned, owned, findings } = observation;
  const present = owned.filter(isTenantRoute);
  const isElsewhere = present.length > 0 && !present.some((route) => isServedBy(route, edge));
  const nothing = {
    apply: [],
    remove: [],
    previous: [],
    isApplied: false,
    isElsewhere,
    findings,
  };
  if (planned === undefined) return { ...nothing, isRoutedAsPlanned: false };

  const firstForeign = planned.findIndex(isForeign);
  const writable = firstForeign < 0 ? planned : planned.slice(0, firstForeign);
  const isBlocked = firstForeign >= 0 || findings.some(({ severity }) => severity === 'error');
  // During a move, TenantRoutes are written once the new Edge can serve them. Until then the present ones stay in use.
  const waits = ({ desired }: PlannedObject) => isBlocked && isElsewhere && isTenantRoute(desired);
  const apply = writable.filter((object) => !waits(object));
  const isRoutedAsPlanned = firstForeign < 0 && planned.every(isSameRoute);
  if (isBlocked) {
    const foreign = planned[firstForeign]?.live;
    return { ...nothing, apply, isRoutedAsPlanned, obstacle: foreign && nameTaken(foreign) };
  }

  const desired = planned.map((object) => object.desired);
  const unwanted = prunable(owned, desired, markOf(exposure));
  const kept = keptTenantRoutes(observation, unwanted.filter(isTenantRoute));
  const ofPreviousDriver = routes === undefined ? [] : previousRoutes(unwanted, edge);
  const previous = new Set<KubeObject>([...kept.map(({ live }) => live), ...ofPreviousDriver]);
  return {
    apply: [...apply, ...kept],
    remove: unwanted.filter((object) => !previous.has(object)),
    previous: [...previous],
    isApplied: true,
    isElsewhere,
    isRoutedAsPlanned,
    findings,
  };
}

/** The hosts of one move, API and konnectivity. */
const ONE_MOVE = 2;

/**
 * The unwanted TenantRoutes that stay, with the backend that they must have now: those of the first move, which clients use,
 * and of the last one, which proxies may use. An Exposure that moves again and again must not reserve more hosts.
 */
function keptTenantRoutes(
  { exposure, edge, routes, lostHosts }: RouteObservation,
  unwanted: readonly TenantRoute[],
): readonly (PlannedObject & { readonly live: TenantRoute })[] {
  if (routes === undefined) return [];
  const kept = unwanted
    .filter(({ spec }) => !isWithdrawn(spec, edge) && !lostHosts.has(spec.host))
    .toSorted(byAge)
    .flatMap((live) => {
      const current = withCurrentBackend(live, routes, exposure);
      const objects = current === undefined ? [] : ownedBy(exposure, [current]);
      return objects.map((desired) => ({ desired, live }));
    });
  if (kept.length <= 2 * ONE_MOVE) return kept;
  return [...kept.slice(0, ONE_MOVE), ...kept.slice(-ONE_MOVE)];
}

/** Whether the Edge has withdrawn the host of a TenantRoute. Another domain is a move, and withdraws nothing. */
function isWithdrawn({ host, edgeRef }: TenantRoute['spec'], edge: Edge): boolean {
  const isListed = edge.spec.allowedHosts !== undefined && edgeRef.name === edge.metadata.name;
  return isListed && hostFault(host, edge) !== undefined;
}

function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  return (a.creationTimestamp ?? '').localeCompare(b.creationTimestamp ?? '');
}

/** Whether a TenantRoute has the same host and backend as desired. Limits and allowed sources may differ. */
function isSameRoute({ desired, live }: PlannedObject): boolean {
  const target = ({ spec }: TenantRoute) => {
    const { edgeRef, driver, exposureRef, host, type, backend } = spec;
    return { edgeRef, driver, exposureRef, host, type, backend };
  };
  if (!isTenantRoute(desired)) return true;
  return live !== undefined && Bun.deepEquals(target(live as TenantRoute), target(desired));
}

function isForeign({ desired, live }: PlannedObject): boolean {
  if (live === undefined) return false;
  const owners = new Set((desired.metadata.ownerReferences ?? []).map(({ uid }) => uid));
  const isOwned = (live.metadata.ownerReferences ?? []).some(({ uid }) => owners.has(uid));
  return !isOwned && !isAdoptable(live, desired);
}

function nameTaken(object: KubeObject): Finding {
  return {
    code: 'NameConflict',
    severity: 'error',
    message: `${objectText(object)} already exists and was not created by Snicket.`,
    action: 'Delete or rename it, or choose another name for the Exposure.',
  };
}
