/**
 * Where a gateway's routes come from, whatever that is: a file, or a cluster.
 */
import type { Logger } from '../../telemetry/log.ts';
import type { Route, RouteLimits } from './route.ts';
import type { KnownRoute } from './route-values.ts';

/** A gateway, as its feed sees it. */
export interface RoutesSink {
  readonly log: Logger;
  /** Replaces all routes. @throws if there are too many; those in force stay. */
  readonly onRoutes: (routes: readonly Route[]) => RouteCounts;
  /** Changes some routes and leaves the others as they are. @throws if there are too many; those in force stay. */
  readonly onUpdate: (update: RouteUpdate) => RouteCounts;
  /** The limits of a route that sets none; 0: none. Default: none. */
  readonly tenantLimits?: Required<RouteLimits> | undefined;
  /** The routes in force. */
  readonly known: KnownRoute;
}

/** Routes that are new or have changed, and the hosts whose route is gone. */
export interface RouteUpdate {
  readonly set: readonly Route[];
  readonly removed: readonly string[];
}

/** How many routes a new set of them has touched. */
export interface RouteCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Not in force for want of room, which passes: put the same routes in force again, every {@link RETRY_MS}. */
  readonly waiting: number;
}

/** How long to leave routes waiting between two tries. */
export const RETRY_MS = 1000;

/** What there is to say about routes that wait. */
export function waitingSentence(waiting: number): string {
  return `no room yet for ${waiting} of the routes; they come into force as connections of removed ones end`;
}

/** How the loading went so far: for metrics and readiness. */
export interface LoadState {
  /** Whether the last version that was seen is the one in force. */
  isGood: boolean;
  /** Why not, as a sentence. */
  problem: string | undefined;
  loads: number;
  failures: number;
  /** Of the last good load: how long it took until its routes were in force, and when it was. */
  loadSeconds: number;
  loadedAtSeconds: number;
}

/** The state before anything was loaded. */
export function nothingLoaded(): LoadState {
  return {
    isGood: false,
    problem: undefined,
    loads: 0,
    failures: 0,
    loadSeconds: 0,
    loadedAtSeconds: 0,
  };
}

/** A source of routes. What was good once stays in force, whatever comes after it. */
export interface RoutesFeed {
  readonly state: LoadState;
  /** Done when there are routes, or when it is known that there are none yet. Fails never: the state says why. */
  start(): Promise<void>;
  stop(): void;
}

/** Connects a source with a gateway. */
export type OpenRoutesFeed = (sink: RoutesSink) => RoutesFeed;
