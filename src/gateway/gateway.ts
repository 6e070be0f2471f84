/**
 * The gateway on the main thread: routes, keys, engine threads, metrics and health. Connections live in the engine
 * threads.
 */
import { systemClock } from '../clock/clock.ts';
import { drain } from '../engine/drain.ts';
import { DEFAULT_LIMITS, type Limits } from '../engine/limits.ts';
import { formatListenAddress, type ListenAddress } from '../net/listen-address.ts';
import { CannotListen, listenOnAll } from '../net/listen-all.ts';
import { findPortConflict } from '../net/port-conflict.ts';
import { serveHttp, type HttpServer } from '../telemetry/http.ts';
import type { Logger } from '../telemetry/log.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { AccessLog } from './access-log.ts';
import { registerGatewayMetrics } from './gateway-metrics.ts';
import { KeySource } from './key-source.ts';
import { MAX_ROUTES, type GatewayOptions } from './options.ts';
import type { Route } from './routes/route.ts';
import { RouteTable, type RouteChanges } from './routes/route-table.ts';
import type { LoadState, RouteCounts, RoutesFeed } from './routes/routes-feed.ts';
import { EngineThreads } from './thread/engine-threads.ts';
import type { FromThread } from './thread/messages.ts';

/** The error when an engine thread has ended without closing its sockets. */
class ThreadLost extends Error {
  override readonly name = 'ThreadLost';

  constructor(thread: number, cause: Error | undefined) {
    super(`engine thread ${thread} ended without closing its sockets; restart the gateway`, {
      cause,
    });
  }
}

/** A gateway. Starts, drains and stops all its components. Does not handle signals. */
export class Gateway {
  readonly metrics = new Metrics();
  readonly threads: EngineThreads;

  readonly #options: GatewayOptions;
  readonly #log: Logger;
  readonly #table: RouteTable;
  readonly #routes: RoutesFeed;
  readonly #keys: KeySource | undefined;
  readonly #accessLog: AccessLog | undefined;
  readonly #http: (HttpServer & ListenAddress)[] = [];
  #addresses: readonly ListenAddress[] = [];
  readonly #lost = Promise.withResolvers<never>();
  #isDraining = false;

  constructor(options: GatewayOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
    const { accessLog, keyFile, maxRoutes = MAX_ROUTES } = options;
    this.#accessLog = accessLog === undefined ? undefined : new AccessLog(accessLog, log);
    this.threads = new EngineThreads({
      threads: options.workers,
      engine: options.engine,
      listen: options.listen,
      slots: maxRoutes,
      limits: engineLimits(options),
      maxConnections: options.maxConnections,
      tenantLimits: options.tenantLimits,
      proxyProtocol: options.proxyProtocol,
      hasAccessLog: accessLog !== undefined,
      routes: () => this.#table.routes(),
      onCrash: (thread, error, restartMs) => {
        log.error('engine thread crashed, its connections are lost', { thread, error, restartMs });
      },
      onLoss: (thread, error) => this.#lost.reject(new ThreadLost(thread, error)),
      onMessage: (thread, message) => this.#handle(thread, message),
    });
    this.#table = new RouteTable(maxRoutes, this.threads);
    this.#routes = options.openRoutes({
      log,
      onRoutes: (routes) => this.#activate(routes, () => this.#table.replace(routes)),
      onUpdate: (update) => this.#activate(update.set, () => this.#table.update(update)),
      known: (host) => this.#table.find(host),
      tenantLimits: options.tenantLimits,
    });
    this.#keys =
      keyFile === undefined
        ? undefined
        : new KeySource(keyFile, log, (masterKeys) => this.threads.changeKeys(masterKeys));
    this.#lost.promise.catch(() => {}); // lost() reports the error
    registerGatewayMetrics(this.metrics, {
      threads: this.threads,
      options,
      load: () => this.#routes.state,
      routes: () => this.#table.routes(),
      accessLog: this.#accessLog,
      keysAreCurrent: () =>
        this.#keys === undefined ? undefined : this.#keys.problem === undefined,
    });
  }

  /** The addresses that accept clients. */
  get addresses(): readonly ListenAddress[] {
    return this.#addresses;
  }

  /** The addresses that serve health and metrics. */
  get httpAddresses(): readonly ListenAddress[] {
    return this.#http;
  }

  /** State of the last load of the routes. */
  get load(): Readonly<LoadState> {
    return this.#routes.state;
  }

  /**
   * Starts all components. With an invalid routes file the gateway runs but is not ready. @throws if it cannot listen.
   */
  async start(): Promise<void> {
    this.#serveHttp();
    this.#accessLog?.open();
    this.#keys?.start();
    await this.#routes.start();
    const conflict = findPortConflict(this.#options.listen);
    this.#addresses = await this.threads.start();
    if (conflict !== undefined) {
      this.#log.warn(
        'another process listens on the same address and receives part of the connections; stop one of the two',
        { address: formatListenAddress(conflict.at) },
      );
    }
    const [first] = this.threads.all;
    if (first?.fallbackReason !== undefined) {
      this.#log.warn('preferred engine not available', {
        engine: first.engine,
        reason: first.fallbackReason,
      });
    }
    for (const error of first?.skipped ?? []) this.#warnWithoutIPv6(error);
    this.#log.info('accepting connections', {
      listen: this.#addresses.map(formatListenAddress),
      http: this.#http.map(formatListenAddress),
      engine: first?.engine,
      threads: this.threads.all.length,
    });
  }

  /** Never resolves. @throws ThreadLost when the process has to be restarted. */
  async lost(): Promise<never> {
    return this.#lost.promise;
  }

  /** Returns why the gateway is not ready, or undefined if it is ready. */
  notReady(): string | undefined {
    if (this.#isDraining) return 'draining: the gateway is shutting down';
    if (this.#addresses.length === 0) return 'starting';
    const { loads, problem } = this.#routes.state;
    if (loads === 0) return problem ?? 'no routes have been loaded yet';
    if (this.#keys !== undefined && !this.#keys.hasKeys) return this.#keys.problem;
    const isAlive = this.threads.all.some(({ isListening }) => isListening);
    return isAlive ? undefined : 'no engine thread is running';
  }

  /** Reopens the access log. Call it after log rotation. */
  reopenAccessLog(): void {
    this.#accessLog?.reopen();
  }

  /** Reports not ready, accepts for the grace period, closes all connections over the drain period, then stops. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    const { graceMs, drainMs, clock = systemClock } = this.#options;
    this.#log.info('draining; send the signal again to exit immediately', {
      open: this.threads.global('open'),
      graceMs,
      drainMs,
    });
    const { signal } = new AbortController(); // never aborted: a second signal ends the process instead
    await drain({ engines: this.threads.all, graceMs, drainMs, clock, signal });
    await this.stop();
  }

  /** Stops all components and resets all connections. */
  async stop(): Promise<void> {
    this.#routes.stop();
    this.#keys?.stop();
    await this.threads.stop();
    await this.#accessLog?.close();
    for (const server of this.#http) server.stop();
  }

  #serveHttp(): void {
    const notReady = () => this.notReady();
    const listen = (at: ListenAddress) => {
      const server = serveHttp({ ...at, metrics: this.metrics, notReady });
      this.#http.push({ address: at.address, port: server.port, stop: () => server.stop() });
    };
    try {
      listenOnAll({ listen }, this.#options.http, ({ message }) => this.#warnWithoutIPv6(message));
    } catch (error) {
      if (!(error instanceof CannotListen)) throw error;
      const address = formatListenAddress(error.at);
      throw new Error(
        `cannot serve HTTP on ${address} (${error.code}); choose another address with --http`,
        {
          cause: error,
        },
      );
    }
  }

  #warnWithoutIPv6(error: string): void {
    this.#log.warn('IPv6 not available, listening on IPv4 only', { error });
  }

  #activate(routes: readonly Route[], change: () => RouteChanges): RouteCounts {
    const before = this.#table.size;
    const unknown = routes.filter(({ host }) => this.#table.find(host) === undefined);
    const changes = change();
    this.threads.changeRoutes(changes);
    const { size, waiting } = this.#table;
    const added = unknown.filter(({ host }) => this.#table.find(host) !== undefined).length;
    const changed = changes.set.length - added;
    return { added, changed, removed: before + added - size, waiting };
  }

  #handle(thread: number, message: FromThread): void {
    switch (message.type) {
      case 'access-log':
        this.#accessLog?.add(message.lines, message.count);
        break;
      case 'keys-refused':
        this.#log.error('engine thread rejected new keys, keeping its previous keys', {
          thread,
          error: message.error,
        });
        break;
      case 'fault':
        this.#log.error('connection failed because of a bug', {
          thread,
          error: message.error,
          stack: message.stack,
        });
        break;
      case 'listening':
      case 'cannot-start':
      case 'stopped':
      case 'applied':
        break;
    }
  }
}

/**
 * Shared by all threads. The memory used can be twice as large, which is half of the 1 GiB limit in
 * deploy/gateway.yaml.
 */
const MAX_BUFFERED_BYTES = 256 * 1024 * 1024;

/**
 * Returns the limits of one thread. The router counts connections over all threads. Limits that each engine counts for
 * itself are divided by the number of threads.
 */
function engineLimits({ workers, maxConnections, limits }: GatewayOptions): Partial<Limits> {
  const { maxUnfinishedHellos, maxUnfinishedHellosPerSource } = DEFAULT_LIMITS;
  const share = (limit: number) => Math.ceil(limit / workers);
  return {
    ...limits,
    maxConnections,
    maxBufferedBytes: MAX_BUFFERED_BYTES,
    maxUnfinishedHellos: share(maxUnfinishedHellos),
    maxUnfinishedHellosPerSource: share(maxUnfinishedHellosPerSource),
  };
}
