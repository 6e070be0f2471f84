/**
 * `snicket tcp-proxy`: in the place of steward-tcp-proxy, on the nodes that Steward puts it on. The proxy carries, the
 * keeper leads pods to it.
 */
import { join } from 'node:path';
import { systemClock, type Clock } from '../clock/clock.ts';
import { createClient } from '../kube/client/fetch-client.ts';
import { inClusterAccess, type Environment } from '../kube/access/in-cluster.ts';
import { startProxy, type ProxyMode, type RunningProxy } from '../proxy/proxy.ts';
import type { Logger } from '../telemetry/log.ts';
import { FIELD_MANAGER } from './kubernetes-slice.ts';
import { registerTcpProxyMetrics } from './metrics.ts';
import { addressTowards } from './node-address.ts';
import type { TcpProxySettings } from './settings.ts';
import { SliceKeeper } from './slice-keeper.ts';

/** What {@link startTcpProxy} needs besides the settings. */
export interface TcpProxyOptions {
  /** Has the address of the API. */
  readonly env: Environment;
  /** Where token and CA of the service account are. */
  readonly serviceAccountFolder: string;
  /** Different for each process, and telling a person which one it is. */
  readonly identity: string;
  readonly log: Logger;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

/** Of one request to the API: a Lease has to be renewed several times before it is over. */
const REQUEST_TIMEOUT_MS = 5_000;

/** They may take twice as much memory, and Steward's limit for all of it is 64 MiB. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/**
 * Starts one. An upstream that is not there keeps it out of the slice, and from nothing else.
 *
 * @throws AccessError without a service account, AddressUnavailable, or Error about a file that is of no use.
 */
export async function startTcpProxy(
  settings: TcpProxySettings,
  options: TcpProxyOptions,
): Promise<RunningTcpProxy> {
  const { env, serviceAccountFolder, identity, log, clock = systemClock } = options;
  const { upstream, serverName, nodeAddress, serviceName, roundMs } = settings;
  const connect = () =>
    createClient(inClusterAccess(env, serviceAccountFolder), {
      fieldManager: FIELD_MANAGER,
      userAgent: FIELD_MANAGER,
      timeoutMs: REQUEST_TIMEOUT_MS,
    });
  connect(); // before anything listens: without a service account there is no point
  for (const notice of settings.notices) log.warn(notice);
  const proxy = await startProxy({
    mode: modeOf(settings, join(serviceAccountFolder, 'ca.crt')),
    listen: settings.listen,
    http: settings.http,
    edge: upstream,
    serverName,
    log,
    clock,
    limits: { maxKeptBytes: MAX_KEPT_BYTES },
  });
  const keeper = new SliceKeeper({
    connect,
    serviceName,
    identity,
    roundMs,
    clock,
    log,
    port: proxy.ports[0] ?? 0,
    address: async (signal) => nodeAddress ?? addressTowards(upstream, signal),
    isReady: () => proxy.notReady() === undefined,
  });
  registerTcpProxyMetrics(proxy.metrics, keeper);
  return new RunningTcpProxy(proxy, keeper);
}

/** One that runs, until {@link RunningTcpProxy.stop}. */
export class RunningTcpProxy {
  readonly proxy: RunningProxy;
  readonly keeper: SliceKeeper;
  readonly #ended = new AbortController();
  readonly #rounds: Promise<void>;

  /** By {@link startTcpProxy} only. */
  constructor(proxy: RunningProxy, keeper: SliceKeeper) {
    this.proxy = proxy;
    this.keeper = keeper;
    this.#rounds = keeper.run(this.#ended.signal);
  }

  /** Out of the slice: new connections go elsewhere, and this proxy can be drained. */
  async leave(signal: AbortSignal): Promise<void> {
    this.#ended.abort();
    await this.#rounds;
    await this.keeper.leave(signal);
  }

  /** Ends everything at once, and leaves the slice as it is. */
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
