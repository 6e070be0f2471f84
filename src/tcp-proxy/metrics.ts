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

  add('gauge', 'joined', '1 if this proxy was in the slice at the last look.', () =>
    keeper.isJoined ? 1 : 0,
  );
  add('gauge', 'endpoints', 'Entries of the slice at the last look.', () => counts.endpoints);
  add('counter', 'rounds_total', 'Looks at the slice.', () => counts.rounds);
  add('counter', 'round_failures_total', 'Those that failed.', () => counts.failures);
  add(
    'counter',
    'overwrites_total',
    'How often another writer had overwritten the slice.',
    () => counts.overwrites,
  );
}
