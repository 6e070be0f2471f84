/**
 * `snicket proxy`: runs on a worker, accepts the connections of pods to the Service `kubernetes`, and forwards them to
 * the edge under the name of the tenant.
 */
import { systemClock, type Clock } from '../clock/clock.ts';
import { Counters } from '../engine/counters.ts';
import { drain } from '../engine/drain.ts';
import type { Engine } from '../engine/engine.ts';
import { DEFAULT_LIMITS, type Limits } from '../engine/limits.ts';
import type { ListenAddress } from '../net/listen-address.ts';
import { adviceFor, CannotListen, listenOnAll, type Listener } from '../net/listen-all.ts';
import { openEngine, type EngineChoice, type OpenedEngine } from '../engine/open-engine.ts';
import { serveHttp, type HttpServer } from '../telemetry/http.ts';
import type { Logger } from '../telemetry/log.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { Credentials, type CredentialPaths } from './credentials/credentials.ts';
import { Edge } from './edge/edge.ts';
import type { EdgeAddress } from '../net/edge-address.ts';
import type { Lookup } from './edge/edge-resolver.ts';
import { registerProxyMetrics } from './metrics.ts';
import { Passthrough } from './passthrough.ts';
import { HELLO_REFUSAL_CODES, PROXY_REASON_CODES } from './reasons.ts';
import { Terminator } from './terminate/terminator.ts';

/** How the proxy passes the name of the tenant to the edge, and the files that this requires. */
export type ProxyMode =
  | {
      readonly name: 'passthrough';
      /** If absent, connections have no header. Only for an upstream that serves no other tenant. */
      readonly tenantKeyFile?: string | undefined;
      /** For the TLS handshake of the readiness probe. */
      readonly caFile: string;
    }
  | {
      readonly name: 'terminate';
      readonly caFile: string;
      readonly certFile: string;
      readonly keyFile: string;
    };

/** Options of {@link startProxy}. */
export interface ProxyOptions {
  readonly mode: ProxyMode;
  readonly listen: readonly ListenAddress[];
  /** The address of the edge, or a file of addresses that is watched: one `HOST:PORT` per line. */
  readonly edge: EdgeAddress | { readonly file: string };
  /** The API host of the tenant. The edge routes by it, and its certificate must have it. */
  readonly serverName: string;
  /** Addresses for health, readiness and metrics. Default: none. */
  readonly http?: readonly ListenAddress[] | undefined;
  /** For mode passthrough. Default `auto`. */
  readonly engine?: EngineChoice | undefined;
  readonly limits?: Partial<Limits> | undefined;
  readonly log: Logger;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** Default: the resolver of the system. */
  readonly lookup?: Lookup | undefined;
}

interface ProxyComponents {
  readonly credentials: Credentials;
  readonly edge: Edge;
  readonly counters: Counters;
}

/**
 * Starts a proxy. An edge that is down only makes it not ready.
 *
 * @throws AddressUnavailable, or Error with a message about an invalid file.
 */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { mode, serverName, log, lookup, clock = systemClock } = options;
  const edgeFile = 'file' in options.edge ? options.edge.file : undefined;
  const fixedTargets = 'file' in options.edge ? undefined : [options.edge];
  const credentials = new Credentials({
    paths: { ...pathsOf(mode), edge: edgeFile },
    serverName,
    clock,
    log,
    onReload: () => edge.retarget(),
  });
  const edge = new Edge({
    targets: fixedTargets === undefined ? credentials.edge : () => fixedTargets,
    authorities: credentials.authorities,
    tenantKey: signingKey(mode, credentials),
    dialTimeoutMs: options.limits?.dialTimeoutMs ?? DEFAULT_LIMITS.dialTimeoutMs,
    serverName,
    clock,
    log,
    lookup,
  });
  const counters = new Counters({
    slots: 1,
    slotReasons: PROXY_REASON_CODES,
    otherReasons: mode.name === 'terminate' ? HELLO_REFUSAL_CODES : [],
  });
  const components = { credentials, edge, counters };
  return new RunningProxy(options, components, await openProxyEngine(options, components));
}

/** A running proxy, until {@link RunningProxy.stop}. */
export class RunningProxy {
  /** The listen ports, in the order of the options. IPv6 addresses are skipped on a machine without IPv6. */
  readonly ports: readonly number[];
  readonly httpPorts: readonly number[];
  readonly metrics = new Metrics();
  readonly counters: Counters;

  readonly #clock: Clock;
  readonly #components: ProxyComponents;
  readonly #engine: Engine;
  readonly #http: HttpServer[] = [];
  #isDraining = false;

  /** For {@link startProxy} only. */
  constructor(
    options: ProxyOptions,
    components: ProxyComponents,
    { engine, fallbackReason }: OpenedEngine,
  ) {
    const { mode, log } = options;
    this.#clock = options.clock ?? systemClock;
    this.#components = components;
    this.#engine = engine;
    this.counters = components.counters;
    if (fallbackReason !== undefined) {
      log.warn('preferred engine not available', { engine: engine.name, reason: fallbackReason });
    }
    const { certificate } = components.credentials;
    registerProxyMetrics(this.metrics, {
      mode: mode.name,
      engine: engine.name,
      isFallback: fallbackReason !== undefined,
      counters: components.counters,
      edge: components.edge,
      certificate: mode.name === 'terminate' ? certificate : undefined,
      reloads: () => components.credentials.reloads(),
    });
    try {
      // The ports are shared, so that the next version can listen before this one stops.
      const listenForPods = (at: ListenAddress): number =>
        engine.listen({ ...at, reusePort: at.port !== 0 });
      this.ports = listenOn({ listen: listenForPods }, options.listen, log);
      this.httpPorts = listenOn({ listen: this.#serveHttp }, options.http ?? [], log);
    } catch (error) {
      this.stop();
      throw error;
    }
    components.credentials.watch();
    components.edge.start();
  }

  /** Returns why the proxy is not ready, as a message. Undefined if it is ready. */
  readonly notReady = (): string | undefined =>
    this.#isDraining ? 'draining: the proxy is shutting down' : this.#components.edge.fault();

  /**
   * Drains the proxy: it becomes not ready, accepts connections for `graceMs`, and then closes connections over
   * `drainMs`.
   */
  async drain(graceMs: number, drainMs: number, signal?: AbortSignal): Promise<void> {
    this.#isDraining = true;
    const engine = this.#engine;
    const drainable = {
      stopAccepting: () => engine.stopAccepting(),
      closeOldest: (count: number) => engine.closeOldest(count),
      open: () => this.counters.global('open'),
    };
    const options = { engines: [drainable], graceMs, drainMs, clock: this.#clock };
    await drain(signal === undefined ? options : { ...options, signal });
  }

  /** Serves HTTP on an address, and returns the port. */
  readonly #serveHttp = (at: ListenAddress): number => {
    const { metrics, notReady } = this;
    // Shared like the ports for pods, while two versions run on one node.
    const server = serveHttp({ ...at, metrics, notReady, reusePort: at.port !== 0 });
    this.#http.push(server);
    return server.port;
  };

  /** Resets all connections and stops the proxy at once. */
  stop(): void {
    this.#engine.stop();
    this.#components.edge.stop();
    this.#components.credentials.stop();
    for (const server of this.#http) server.stop();
  }
}

/**
 * The error for an address that the proxy cannot listen on. The message is for the user. The cause is the machine, not
 * a flag or a file.
 */
export class AddressUnavailable extends Error {
  override readonly name = 'AddressUnavailable';
}

/** @throws AddressUnavailable. The caller closes the listeners that are already open. */
function listenOn(
  listener: Listener<number>,
  addresses: readonly ListenAddress[],
  log: Logger,
): number[] {
  try {
    return listenOnAll(listener, addresses, ({ message, code }) =>
      log.warn('IPv6 not available, listening on IPv4 only', { error: message, code }),
    );
  } catch (error) {
    if (!(error instanceof CannotListen)) throw error;
    throw new AddressUnavailable(`${error.message}; ${adviceFor(error)}`, { cause: error });
  }
}

async function openProxyEngine(
  options: ProxyOptions,
  components: ProxyComponents,
): Promise<OpenedEngine> {
  const { mode, serverName, limits = {}, clock = systemClock, log } = options;
  const { credentials, counters } = components;
  const { loadBalancer } = components.edge;
  // Each failed dial is counted. EdgeHealth logs a failure of the edge once.
  const suspected = (reason: number, error?: Error): void => {
    log.debug('dial to the edge failed', { code: counters.reasons[reason], error });
    components.edge.suspect();
  };
  const onFault = (error: unknown): void =>
    log.error('connection failed because of a bug', { error });
  if (mode.name === 'passthrough') {
    const edgeDown = counters.reason('edge_down');
    const key = signingKey(mode, credentials);
    const router = new Passthrough({ loadBalancer, key, edgeDown, suspected });
    return openEngine(options.engine ?? 'auto', { router, counters, limits, clock, onFault });
  }
  const { certificate } = credentials;
  const { authorities } = credentials;
  const engine = new Terminator({
    loadBalancer,
    serverName,
    certificate,
    authorities,
    counters,
    limits,
    clock,
    suspected,
    onFault,
  });
  return { engine };
}

/** Returns the function for the current key, if connections begin with a signed header. */
function signingKey(
  mode: ProxyMode,
  { tenantKey }: Credentials,
): Credentials['tenantKey'] | undefined {
  return mode.name === 'passthrough' && mode.tenantKeyFile !== undefined ? tenantKey : undefined;
}

function pathsOf(mode: ProxyMode): CredentialPaths {
  return mode.name === 'passthrough'
    ? { tenantKey: mode.tenantKeyFile, authorities: mode.caFile }
    : { authorities: mode.caFile, certificate: mode.certFile, key: mode.keyFile };
}
