/**
 * `snicket tcp-proxy`, a replacement for steward-tcp-proxy on the nodes where Steward runs it. The proxy forwards
 * connections, and the slice reconciler points pods to it.
 */
import { join } from 'node:path';
import { systemClock, type Clock } from '../clock/clock.ts';
import { createClient } from '../kube/client/fetch-client.ts';
import { inClusterAccess, type Environment } from '../kube/access/in-cluster.ts';
import { startProxy, type ProxyMode, type RunningProxy } from '../proxy/proxy.ts';
import type { Logger } from '../telemetry/log.ts';
import { FIELD_MANAGER } from './kubernetes-slice.ts';
import { registerTcpProxyMetrics } from './metrics.ts';
import { localAddressTo } from './node-address.ts';
import type { TcpProxySettings } from './settings.ts';
import { SliceReconciler } from './slice-reconciler.ts';

/** Options of {@link startTcpProxy} in addition to the settings. */
interface TcpProxyOptions {
  /** Has the address of the API server. */
  readonly env: Environment;
  /** Directory with the token and the CA of the service account. */
  readonly serviceAccountFolder: string;
  /** Unique per process, and readable in logs and Leases. */
  readonly identity: string;
  readonly log: Logger;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Timeout of one request to the API server. The Lease must be renewed several times before it expires. */
const REQUEST_TIMEOUT_MS = 5_000;

/** Memory use can be twice as high. Steward's memory limit for the whole process is 64 MiB. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

/**
 * Starts the proxy. While the upstream is unreachable the proxy runs, but stays out of the slice.
 *
 * @throws AccessError without a service account, AddressUnavailable, or Error for an unusable file.
 */
export async function startTcpProxy(
  settings: TcpProxySettings,
  options: TcpProxyOptions,
): Promise<RunningTcpProxy> {
  const { env, serviceAccountFolder, identity, log, clock = systemClock } = options;
  const { upstream, serverName, nodeAddress, serviceName, intervalMs } = settings;
  const connect = () =>
    createClient(inClusterAccess(env, serviceAccountFolder), {
      fieldManager: FIELD_MANAGER,
      userAgent: FIELD_MANAGER,
      timeoutMs: REQUEST_TIMEOUT_MS,
    });
  connect(); // fails without a service account, before anything listens
  for (const notice of settings.notices) log.warn(notice);
  const proxy = await startProxy({
    mode: modeOf(settings, join(serviceAccountFolder, 'ca.crt')),
    listen: settings.listen,
    http: settings.http,
    edge: upstream,
    serverName,
    log,
    clock,
    limits: { maxBufferedBytes: MAX_BUFFERED_BYTES },
  });
  const reconciler = new SliceReconciler({
    connect,
    serviceName,
    identity,
    intervalMs,
    clock,
    log,
    port: proxy.ports[0] ?? 0,
    address: async (signal) => nodeAddress ?? localAddressTo(upstream, signal),
    isReady: () => proxy.notReady() === undefined,
  });
  registerTcpProxyMetrics(proxy.metrics, reconciler);
  return new RunningTcpProxy(proxy, reconciler);
}

/** A running TCP proxy. {@link RunningTcpProxy.stop} ends it. */
export class RunningTcpProxy {
  readonly proxy: RunningProxy;
  readonly reconciler: SliceReconciler;
  readonly #ended = new AbortController();
  readonly #reconciles: Promise<void>;

  /** Called by {@link startTcpProxy} only. */
  constructor(proxy: RunningProxy, reconciler: SliceReconciler) {
    this.proxy = proxy;
    this.reconciler = reconciler;
    this.#reconciles = reconciler.run(this.#ended.signal);
  }

  /** Removes this proxy from the slice, so that new connections go elsewhere and this proxy can be drained. */
  async leave(signal: AbortSignal): Promise<void> {
    this.#ended.abort();
    await this.#reconciles;
    await this.reconciler.leave(signal);
  }

  /** Stops the proxy and the reconciler immediately. Does not change the slice. */
  stop(): void {
    this.#ended.abort();
    this.proxy.stop();
  }
}

function modeOf({ serving }: TcpProxySettings, caFile: string): ProxyMode {
  return serving === undefined
    ? { name: 'passthrough', caFile }
    : { name: 'terminate', caFile, ...serving };
}
