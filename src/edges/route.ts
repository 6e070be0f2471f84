/**
 * The routes that a driver configures: a host of a tenant, and the backend Service port.
 */

/** What a host serves. */
export type RouteKind = 'api' | 'konnectivity';

/** A route from a host to a Service port. */
export interface Route {
  readonly kind: RouteKind;
  /** A DNS name in lower case. */
  readonly host: string;
  /** The name of a Service in the namespace of the Exposure. */
  readonly service: string;
  /** The Service's port (not its targetPort). */
  readonly port: number;
  /** The port name in EndpointSlices; empty if the port has no name. */
  readonly portName: string;
}

/** The routes of one Exposure. */
export interface ExposureRoutes {
  /**
   * The name of the Exposure. The names of route objects derive from it: `snicket-<name>`, `snicket-<name>-api`,
   * `snicket-<name>.nginx`.
   */
  readonly name: string;
  readonly namespace: string;
  readonly api: Route;
  readonly konnectivity?: Route | undefined;
  /** The name of the provider's own Ingress, if that has the routes. Default: Snicket writes the route objects. */
  readonly providerIngress?: string | undefined;
}
