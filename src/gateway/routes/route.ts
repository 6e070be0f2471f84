/**
 * A route: the host that clients ask for, and where it leads.
 */

/** What is behind a host. */
export const ROUTE_KINDS = ['api', 'konnectivity'] as const;
/** One of {@link ROUTE_KINDS}. */
export type RouteKind = (typeof ROUTE_KINDS)[number];

/** How much one route may take of the gateway, over all threads. Absent: what the command line says. */
export interface RouteLimits {
  /** The most open connections. */
  readonly connections?: number;
  /** The most new connections in a second, a second's worth of them at once. */
  readonly connectionsPerSecond?: number;
}

/** A route as the file has it. It is sent between threads, so it is plain data. */
export interface Route {
  readonly tenant: string;
  /** In lower case. */
  readonly host: string;
  readonly kind: RouteKind;
  /** As `10.0.0.5:6443` and `[fd00::5]:6443`; none while the tenant is not ready. */
  readonly endpoints: readonly string[];
  readonly limits: RouteLimits;
  /** Networks that clients may connect from, as `10.0.0.0/8`. Absent: any. */
  readonly allowedSources?: readonly string[] | undefined;
}

/** Whether two routes say the same. */
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
