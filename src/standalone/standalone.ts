/**
 * Runs the operator and the gateway in one process, with a folder instead of a management cluster. Both access the
 * objects through a client, as they would those of an API server.
 */
import { systemClock, type Clock } from '../clock/clock.ts';
import { reachesListener } from '../net/local-address.ts';
import { formatListenAddress, type ListenAddress } from '../net/listen-address.ts';
import { adviceFor, CannotListen, listenOnAll } from '../net/listen-all.ts';
import { findPortConflict } from '../net/port-conflict.ts';
import { KubernetesRoutes } from '../discovery/kubernetes-routes.ts';
import { Gateway } from '../gateway/gateway.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import { RESOURCES } from '../kube/resource.ts';
import { Operator, type OperatorOptions } from '../operator/operator.ts';
import { serveHttp, type HttpServer } from '../telemetry/http.ts';
import type { Logger } from '../telemetry/log.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { unservedPortWarnings } from './edge-port.ts';
import { OPERATOR_NAMESPACE } from './folder/rules.ts';
import { FolderCluster } from './folder-cluster.ts';
import { registerFolderMetrics } from './folder-metrics.ts';
import { ensureMasterKeyFile, shareMasterKeys } from './state/master-key.ts';
import { FolderSync } from './sync/folder-sync.ts';

/** Options of a {@link Standalone}. */
export interface StandaloneOptions {
  readonly folder: string;
  readonly state: string;
  readonly gateway: Omit<GatewayOptions, 'openRoutes' | 'keyFile' | 'http'>;
  readonly operator: Omit<
    OperatorOptions,
    | 'client'
    | 'namespace'
    | 'identity'
    | 'isGatewayHere'
    | 'isGatewayAt'
    | 'protectsEdges'
    | 'unusableFiles'
    | 'log'
  >;
  /** Addresses for health and metrics of both. If empty, they are not served. */
  readonly http: readonly ListenAddress[];
  /** Clock for the folder. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** The process without its signal handling: starts, drains and stops all parts. */
export class Standalone {
  readonly metrics = new Metrics();
  readonly gateway: Gateway;

  readonly #options: StandaloneOptions;
  readonly #log: Logger;
  readonly #cluster: FolderCluster;
  readonly #operator: Operator;
  readonly #sync: FolderSync;
  readonly #keyFile: string;
  readonly #ended = new AbortController();
  readonly #http: (HttpServer & ListenAddress)[] = [];
  #stopSharing: (() => void) | undefined;
  /** The current warnings about ports. */
  #unservedPorts: ReadonlySet<string> = new Set();
  #operating: Promise<void> | undefined;

  /** @throws StateRefused if this process must not use the state. */
  constructor(options: StandaloneOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
    const { folder, state } = options;
    this.#cluster = new FolderCluster({ folder, state, log });
    this.#keyFile = ensureMasterKeyFile(state);
    this.#sync = new FolderSync({
      folder,
      log,
      clock: options.clock ?? systemClock,
      onSync: (faults) => this.#cluster.reportFaults(faults),
      onEdgeFiles: () => this.#operator.reconcileAll(),
      client: this.#cluster.client('snicket-folder'),
    });
    this.#cluster.onExposureRemoved(() => this.#sync.syncSoon());
    const client = this.#cluster.client('snicket');
    this.#operator = new Operator({
      ...options.operator,
      client,
      log,
      // Reading Secrets is cheap, because they are in memory.
      maxResyncMs: options.operator.resyncMs,
      namespace: OPERATOR_NAMESPACE,
      identity: 'snicket-run',
      isGatewayHere: true,
      // Removing the file of an Edge is an explicit act, and restoring the file must undo it. A finalizer would prevent
      // that.
      protectsEdges: false,
      isGatewayAt: (place) => reachesListener(options.gateway.listen, place),
      unusableFiles: () => this.#sync.unusableEdgeFiles,
    });
    this.gateway = new Gateway(
      {
        ...options.gateway,
        openRoutes: (sink) => new KubernetesRoutes({ client }, sink),
        keyFile: this.#keyFile,
        http: [],
      },
      log,
    );
    this.metrics.include(this.gateway.metrics);
    this.metrics.include(this.#operator.metrics);
    registerFolderMetrics(this.metrics, this.#sync.state);
  }

  /** The addresses that serve health and metrics. */
  get httpAddresses(): readonly ListenAddress[] {
    return this.#http;
  }

  /**
   * Starts all parts, unless the signal is aborted first. @throws FolderUnreadable if the folder was never read before,
   * the signal's reason, or if it cannot listen
   */
  async start(signal: AbortSignal): Promise<void> {
    // Two processes on one port would each get half of the connections, including those for tenants that only the other
    // one knows.
    const reason = findPortConflict(this.#options.gateway.listen);
    if (reason !== undefined) throw new Error(`${reason.message}; ${adviceFor(reason)}`);
    this.#serveHttp();
    this.#stopSharing = await shareMasterKeys(this.#keyFile, {
      client: this.#cluster.client('snicket'),
      log: this.#log,
      namespace: OPERATOR_NAMESPACE,
    });
    // Known tenants are served at once. On the first start there are none until the folder is read.
    if (this.#cluster.isNew) await this.#sync.start(signal);
    signal.throwIfAborted();
    await this.gateway.start();
    if (!this.#cluster.isNew) await this.#sync.start(signal);
    signal.throwIfAborted();
    this.#warnAboutPorts();
    this.#cluster.store.listen(({ plural }) => {
      if (plural === RESOURCES.edge.plural) this.#warnAboutPorts();
    });
    this.#operating = this.#operator.run(this.#ended.signal);
    this.#operating.catch(() => {}); // lost() reports the error
    this.#log.info('running', {
      folder: this.#options.folder,
      state: this.#options.state,
      http: this.#http.map(formatListenAddress),
    });
  }

  /** Never resolves. @throws the error after which the process has to be restarted. */
  async lost(): Promise<never> {
    const ended = async (): Promise<never> => {
      await this.#operating;
      throw new Error('the operator stopped unexpectedly');
    };
    return Promise.race([ended(), this.gateway.lost()]);
  }

  /** Returns why the process is not ready, or undefined if it is ready. */
  notReady(): string | undefined {
    return this.gateway.notReady() ?? this.#operator.notReady();
  }

  /** Stops the operator at once, and the gateway after its drain. Neither waits for the other. */
  async drain(): Promise<void> {
    if (this.gateway.addresses.length === 0) return this.stop(); // no client can have connected yet
    await Promise.all([this.#endOperator(), this.gateway.drain()]);
    this.#close();
  }

  /** Stops all parts at once. */
  async stop(): Promise<void> {
    await this.#endOperator();
    await this.gateway.stop();
    this.#close();
  }

  async #endOperator(): Promise<void> {
    this.#ended.abort();
    this.#stopSharing?.();
    await this.#sync.stop();
    await this.#operating?.catch((error: unknown) => {
      // The reason of the signal means that the operator had not started yet.
      if (error !== this.#ended.signal.reason) this.#log.error('operator failed', { error });
    });
  }

  /** Logs each warning once while it applies. */
  #warnAboutPorts(): void {
    const edges = this.#cluster.store.list(RESOURCES.edge);
    const unserved = new Set(unservedPortWarnings(edges, this.#options.gateway.listen));
    for (const sentence of unserved.difference(this.#unservedPorts)) this.#log.warn(sentence);
    this.#unservedPorts = unserved;
  }

  #close(): void {
    for (const server of this.#http) server.stop();
    this.#cluster.close();
  }

  #serveHttp(): void {
    const listen = (at: ListenAddress) => {
      const server = serveHttp({ ...at, metrics: this.metrics, notReady: () => this.notReady() });
      this.#http.push({ address: at.address, port: server.port, stop: () => server.stop() });
    };
    try {
      listenOnAll({ listen }, this.#options.http, ({ message }) =>
        this.#log.warn(`${message}; this machine has no IPv6, so only IPv4 is served`),
      );
    } catch (error) {
      if (!(error instanceof CannotListen)) throw error;
      const place = formatListenAddress(error.at);
      throw new Error(
        `cannot serve HTTP on ${place} (${error.code}); choose another address with --http`,
        {
          cause: error,
        },
      );
    }
  }
}
