/**
 * The interface of edge drivers. No I/O: a driver turns routes into objects, and the status of objects into an
 * admission. Objects do not show whether a controller passes TLS through unmodified. Only a handshake through
 * the edge does.
 */
import type { Finding } from '../api/finding.ts';
import type { Driver, Edge } from '../api/edge.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import type { ExposureRoutes } from './route.ts';
import type { Admission } from './admission.ts';

/** The APIs that the management cluster serves. */
export interface DiscoveredApis {
  /** Reports whether the cluster serves this kind in this version. */
  has(resource: Resource): boolean;
}

/** The objects around the routes of an Exposure. */
export interface EdgeContext {
  readonly edge: Edge;
  readonly served: DiscoveredApis;
  readonly ingressClasses: readonly KubeObject[];
  readonly gateways: readonly KubeObject[];
  readonly gatewayClasses: readonly KubeObject[];
  /** The labels of the namespace of the Exposure: the listener of a Gateway may select namespaces by them. */
  readonly namespaceLabels: Readonly<Record<string, string>>;
  /** The Service in front of the edge, if known. */
  readonly service?: KubeObject | undefined;
  /** The current time, in milliseconds since 1970. */
  readonly nowMs: number;
}

/** An object with routes. */
export interface RouteObject extends KubeObject {
  readonly spec: object;
}

/** Which of two objects with the same host a controller serves. `either`: it is unpredictable. */
export type Winner = 'newcomer' | 'oldest' | 'either' | 'neither' | 'unknown';

/** What happens to a host that two objects claim. */
interface Collision {
  readonly sameHost: Winner;
  /** Whether a wildcard takes precedence over an exact host. */
  readonly wildcardWins: boolean;
  /** The other kinds that can claim hosts on this edge, besides those of the driver. */
  readonly otherKinds: readonly Resource[];
}

/** An edge driver. */
export interface EdgeDriver {
  readonly name: Driver;

  /** The kinds that it writes, in all supported versions, the preferred one first. Empty if it writes no objects. */
  readonly requires: readonly Resource[];

  /** The kinds in {@link EdgeContext} that it reads. */
  readonly reads: readonly Resource[];

  /** What users should know before they choose this driver. */
  readonly pitfalls: readonly Finding[];

  readonly collision: Collision;

  /**
   * Returns the objects with the routes, in the namespace of the Exposure, without owner references. Empty if the API
   * does not serve their kind. The fields are normalized as the API server returns them, so an object that has all of
   * them needs no write.
   */
  objects(routes: ExposureRoutes, edge: Edge, served: DiscoveredApis): readonly RouteObject[];

  /**
   * Returns what is missing or wrong around the routes, with severity `error` if it prevents the controller from
   * serving them. Without routes, returns the findings that concern every Exposure.
   */
  findings(routes: ExposureRoutes | undefined, context: EdgeContext): readonly Finding[];

  /** Returns the admission of the routes, from the status of live objects. */
  admitted(routes: ExposureRoutes, live: readonly KubeObject[], context: EdgeContext): Admission;

  /**
   * Returns the IP addresses or host names of the edge: those in the spec of the Edge, or those that the controller
   * reports.
   */
  addresses(live: readonly KubeObject[], context: EdgeContext): readonly string[];
}
