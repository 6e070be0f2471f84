/** A route: the host that clients ask for, and the endpoints that serve it. */

/** What the endpoints of a host serve. */
export const ROUTE_KINDS = ['api', 'konnectivity'] as const;
/** One of {@link ROUTE_KINDS}. */
export type RouteKind = (typeof ROUTE_KINDS)[number];

/** Limits of one route over all threads. If absent, the limits of the command line apply. */
export interface RouteLimits {
  /** Maximum number of open connections. */
  readonly connections?: number;
  /** Maximum number of new connections per second. The burst is one second's worth. */
  readonly connectionsPerSecond?: number;
}

/** A route as in the routes file. Plain data, since it is sent between threads. */
export interface Route {
  readonly tenant: string;
  /** DNS name in lower case. */
  readonly host: string;
  readonly kind: RouteKind;
  /** Endpoints such as `10.0.0.5:6443` and `[fd00::5]:6443`. Empty while the tenant is not ready. */
  readonly endpoints: readonly string[];
  readonly limits: RouteLimits;
  /** Networks that clients may connect from, such as `10.0.0.0/8`. If absent, any client may connect. */
  readonly allowedSources?: readonly string[] | undefined;
}

/** Whether two routes have equal fields. */
export function isSameRoute(a: Route, b: Route): boolean {
  if (a === b) return true;
  return (
    a.host === b.host &&
    a.tenant === b.tenant &&
    a.kind === b.kind &&
    a.limits.connections === b.limits.connections &&
    a.limits.connectionsPerSecond === b.limits.connectionsPerSecond &&
    isSameList(a.endpoints, b.endpoints) &&
    isSameList(a.allowedSources, b.allowedSources)
  );
}

function isSameList(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
