/**
 * A host of a tenant, and the port of a Service that it has to lead to: what every driver of an edge is given.
 */

/** What is behind a host. */
export type RouteKind = 'api' | 'konnectivity';

/** One host, one Service port. */
export interface Route {
  readonly kind: RouteKind;
  /** A DNS name in lower case. */
  readonly host: string;
  /** In the namespace of the Exposure. */
  readonly service: string;
  /** The Service's port (not its targetPort). */
  readonly port: number;
  /** The name of that port, as slices carry it; empty if it has none. */
  readonly portName: string;
}

/** The routes of one Exposure. */
export interface ExposureRoutes {
  /** Of the Exposure; all objects are called after it: `snicket-<name>`, `snicket-<name>-api`, `snicket-<name>.nginx`. */
  readonly name: string;
  readonly namespace: string;
  readonly api: Route;
  readonly konnectivity?: Route | undefined;
}
