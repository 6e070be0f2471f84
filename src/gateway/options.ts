/** The options of a gateway. */
import type { Clock } from '../clock/clock.ts';
import type { Limits } from '../engine/limits.ts';
import type { ListenAddress } from '../net/listen-address.ts';
import type { EngineChoice } from '../engine/open-engine.ts';
import type { OpenRoutesFeed } from './routes/routes-feed.ts';
import type { TenantLimits } from './router/route-index.ts';
import type { ProxyProtocol } from './router/trusted-sources.ts';

/** The validated options of `snicket gateway`. */
export interface GatewayOptions {
  /** Opens the source of the routes. */
  readonly openRoutes: OpenRoutesFeed;
  readonly listen: readonly ListenAddress[];
  /** Addresses for health and metrics. If empty, they are not served. */
  readonly http: readonly ListenAddress[];
  /** Number of engine threads. */
  readonly workers: number;
  readonly engine: EngineChoice;
  readonly proxyProtocol: ProxyProtocol;
  readonly graceMs: number;
  readonly drainMs: number;
  /** Maximum number of open connections over all threads. */
  readonly maxConnections: number;
  /** Limits of each engine, except those that are divided among the threads. Default: {@link DEFAULT_LIMITS}. */
  readonly limits?: Partial<Limits> | undefined;
  /** Limits of a route that sets none itself. 0 means no limit. */
  readonly tenantLimits: TenantLimits;
  /** Path of the access log, or `-` for standard output. If absent, there is no access log. */
  readonly accessLog?: string | undefined;
  /** Path of the file with the master keys. If absent, the gateway refuses every signed header. */
  readonly keyFile?: string | undefined;
  /** Maximum number of routes. Default 65,536. */
  readonly maxRoutes?: number | undefined;
  /** Clock of the drain. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Default maximum number of routes. Only routes that exist use memory. */
export const MAX_ROUTES = 65_536;
