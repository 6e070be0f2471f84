/**
 * What an edge can do for Snicket, whichever controller is behind it. No I/O: a driver turns routes into objects, and
 * the status of objects into an answer. What it cannot know is whether bytes really pass untouched; only a handshake
 * through the edge shows that.
 */
import type { Driver, Edge } from '../api/edge.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import type { ExposureRoutes } from './route.ts';
import type { Admission } from './admission.ts';
import type { EdgeFinding } from './codes.ts';

/** What the management cluster's API serves. */
export interface ServedApis {
  /** Whether it serves this kind in this very version. */
  has(resource: Resource): boolean;
}

/** What is known around the routes of one Exposure. */
export interface EdgeContext {
  readonly edge: Edge;
  readonly served: ServedApis;
  readonly ingressClasses: readonly KubeObject[];
  readonly gateways: readonly KubeObject[];
  readonly gatewayClasses: readonly KubeObject[];
  /** Of the namespace of the Exposure: a Gateway may choose by them. */
  readonly namespaceLabels: Readonly<Record<string, string>>;
  /** The Service before the edge, where it is known. */
  readonly service?: KubeObject | undefined;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** An object with routes, as it is written. */
export interface RouteObject extends KubeObject {
  readonly spec: object;
}

/** Which of two objects a controller serves that claim the same host; `either`: one of them, by chance. */
export type Winner = 'newcomer' | 'oldest' | 'either' | 'neither' | 'unknown';

/** What becomes of a host that is claimed twice. */
export interface Collision {
  readonly sameHost: Winner;
  /** Whether a wildcard takes connections from an exact host. */
  readonly wildcardWins: boolean;
  /** The kinds, besides its own, by which hosts may be claimed on this edge. */
  readonly otherKinds: readonly Resource[];
}

/** A kind of edge. */
export interface EdgeDriver {
  readonly name: Driver;

  /** What it writes, in the versions that will do, the best first. Empty: it writes nothing. */
  readonly requires: readonly Resource[];

  /** The kinds of {@link EdgeContext} that it looks at. */
  readonly reads: readonly Resource[];

  /** What a person should know who chooses it. */
  readonly pitfalls: readonly EdgeFinding[];

  readonly collision: Collision;

  /**
   * The objects with the routes, in the namespace of the Exposure, without an owner. None, if their kind is not
   * served. They are as an API server gives them back, so that one that has all of these fields needs no write.
   */
  objects(routes: ExposureRoutes, edge: Edge, served: ServedApis): readonly RouteObject[];

  /**
   * What is missing or wrong around the routes; `error` where it keeps them from being served. Without routes: what
   * concerns every Exposure alike.
   */
  findings(routes: ExposureRoutes | undefined, context: EdgeContext): readonly EdgeFinding[];

  /** Whether the controller took the routes, as the objects that are there say. */
  admitted(routes: ExposureRoutes, live: readonly KubeObject[], context: EdgeContext): Admission;

  /** The addresses of the edge, IP addresses or host names: those of the Edge, or as the controller tells them. */
  addresses(live: readonly KubeObject[], context: EdgeContext): readonly string[];
}
