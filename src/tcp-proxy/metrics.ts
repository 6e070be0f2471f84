/** The metrics of the TCP proxy about its EndpointSlice. docs/reference/tcp-proxy.md lists them. */
import type { Metrics } from '../telemetry/metrics.ts';
import type { SliceKeeper } from './slice-keeper.ts';

/** Registers the metrics `snicket_tcp_proxy_*`. */
export function registerTcpProxyMetrics(metrics: Metrics, keeper: SliceKeeper): void {
  const add = (type: 'counter' | 'gauge', name: string, help: string, value: () => number): void =>
    metrics.register({
      name: `snicket_tcp_proxy_${name}`,
      help,
      type,
      samples: () => [{ value: value() }],
    });
  const { counts } = keeper;

  add(
    'gauge',
    'endpointslice_joined',
    'Whether the EndpointSlice contains this proxy, as of the last reconcile.',
    () => (keeper.isJoined ? 1 : 0),
  );
  add(
    'gauge',
    'endpointslice_endpoints',
    'Number of endpoints in the EndpointSlice, as of the last reconcile.',
    () => counts.endpoints,
  );
  add(
    'counter',
    'endpointslice_overwrites_total',
    'Total number of times that another writer overwrote the EndpointSlice.',
    () => counts.overwrites,
  );
  add(
    'counter',
    'reconciles_total',
    'Total number of reconciles of the EndpointSlice.',
    () => counts.rounds,
  );
  add(
    'counter',
    'reconcile_errors_total',
    'Total number of reconciles that failed.',
    () => counts.failures,
  );
}
