/**
 * What a gateway is told at its start.
 */
import type { Clock } from '../clock/clock.ts';
import type { Limits } from '../engine/limits.ts';
import type { ListenAddress } from '../net/listen-address.ts';
import type { EngineChoice } from '../engine/open-engine.ts';
import type { OpenRoutesFeed } from './routes/routes-feed.ts';
import type { TenantLimits } from './switchboard/route-book.ts';
import type { ProxyProtocol } from './switchboard/trusted-sources.ts';

/** The options of `snicket gateway`, checked. */
export interface GatewayOptions {
  /** Where the routes come from. */
  readonly openRoutes: OpenRoutesFeed;
  readonly listen: readonly ListenAddress[];
  /** Health and metrics; none: nowhere. */
  readonly http: readonly ListenAddress[];
  /** Engine threads. */
  readonly workers: number;
  readonly engine: EngineChoice;
  readonly proxyProtocol: ProxyProtocol;
  readonly graceMs: number;
  readonly drainMs: number;
  /** Open connections over all threads. */
  readonly maxConnections: number;
  /** Of each engine, where they are not shared out. Default: those of every engine. */
  readonly limits?: Partial<Limits> | undefined;
  /** For each route that has no limits of its own; 0: none. */
  readonly tenantLimits: TenantLimits;
  /** A file, or `-` for standard output; absent: no access log. */
  readonly accessLog?: string | undefined;
  /** The master keys; absent: no signed header is accepted. */
  readonly keyFile?: string | undefined;
  /** How many routes there can be. Default 65,536. */
  readonly maxRoutes?: number | undefined;
  /** For the drain. Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

/** How many routes there can be by default. Memory is used for those that are. */
export const MAX_ROUTES = 65_536;
