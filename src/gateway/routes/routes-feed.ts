/** The interface between a gateway and the source of its routes: a file or a cluster. */
import type { Logger } from '../../telemetry/log.ts';
import type { Route, RouteLimits } from './route.ts';
import type { KnownRoute } from './route-values.ts';

/** The gateway as seen by its source of routes. */
export interface RoutesSink {
  readonly log: Logger;
  /** Replaces all routes. @throws if there are too many; the active routes then stay. */
  readonly onRoutes: (routes: readonly Route[]) => RouteCounts;
  /** Changes only the given routes. @throws if there are too many; the active routes then stay. */
  readonly onUpdate: (update: RouteUpdate) => RouteCounts;
  /** Limits of a route that sets none; 0 means no limit. Default: no limits. */
  readonly tenantLimits?: Required<RouteLimits> | undefined;
  /** Returns the active route of a host. */
  readonly known: KnownRoute;
}

/** Routes that are new or changed, and the hosts of removed routes. */
export interface RouteUpdate {
  readonly set: readonly Route[];
  readonly removed: readonly string[];
}

/** Number of routes that an update has added, changed and removed. */
export interface RouteCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Routes that are not active because no slot is free yet. Apply the same routes again every {@link RETRY_MS}. */
  readonly waiting: number;
}

/** Interval of the retries of waiting routes. */
export const RETRY_MS = 1000;

/** Returns the message about routes that wait for a slot. */
export function waitingMessage(waiting: number): string {
  return `${waiting} routes wait for a free slot; they become active as connections of removed routes close`;
}

/** State of the loading of routes, for metrics and readiness. */
export interface LoadState {
  /** Whether the last version that was read is active. */
  isCurrent: boolean;
  /** Why the last version is not active, as a message. */
  problem: string | undefined;
  loads: number;
  failures: number;
  /** For the last successful load: the time until its routes were active, and when that was. */
  loadSeconds: number;
  loadedAtSeconds: number;
}

/** Returns the state before the first load. */
export function initialLoadState(): LoadState {
  return {
    isCurrent: false,
    problem: undefined,
    loads: 0,
    failures: 0,
    loadSeconds: 0,
    loadedAtSeconds: 0,
  };
}

/** A source of routes. Valid routes stay active until a later valid version replaces them. */
export interface RoutesFeed {
  readonly state: LoadState;
  /** Resolves after the first attempt to load routes. Never rejects: the state has the reason of a failure. */
  start(): Promise<void>;
  stop(): void;
}

/** Opens a source of routes for a gateway. */
export type OpenRoutesFeed = (sink: RoutesSink) => RoutesFeed;
