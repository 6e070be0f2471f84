/** The metrics of the TCP proxy about its EndpointSlice. docs/reference/tcp-proxy.md lists them. */
import type { Metrics } from '../telemetry/metrics.ts';
import type { SliceReconciler } from './slice-reconciler.ts';

/** Registers the metrics `snicket_tcp_proxy_*`. */
export function registerTcpProxyMetrics(metrics: Metrics, reconciler: SliceReconciler): void {
  const add = (type: 'counter' | 'gauge', name: string, help: string, value: () => number): void =>
    metrics.register({
      name: `snicket_tcp_proxy_${name}`,
      help,
      type,
      samples: () => [{ value: value() }],
    });
  const { counts } = reconciler;

  add(
    'gauge',
    'endpointslice_joined',
    'Whether the EndpointSlice contains this proxy, as of the last reconcile.',
    () => (reconciler.isJoined ? 1 : 0),
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
    () => counts.reconciles,
  );
  add(
    'counter',
    'reconcile_errors_total',
    'Total number of reconciles that failed.',
    () => counts.failures,
  );
}
