/**
 * The metrics of the proxy. docs/reference/proxy.md lists them.
 */
import type { Counters, GlobalCounter } from '../engine/counters.ts';
import type { Metrics, Sample } from '../telemetry/metrics.ts';
import type { ServingCertificate } from './credentials/serving-certificate.ts';
import type { Edge } from './edge/edge.ts';

/** A value from files, and the counts of its reloads. */
export interface Reloads {
  /** The flag of the file. */
  readonly file: string;
  readonly swaps: number;
  readonly failures: number;
  /** Whether the value in use matches the files. */
  readonly isGood: boolean;
}

/** The sources of the metrics. */
export interface ProxyMetricsOptions {
  readonly mode: string;
  readonly engine: string;
  /** Whether the engine is not the preferred one. */
  readonly isFallback: boolean;
  readonly counters: Counters;
  readonly edge: Edge;
  /** Returns the current certificate. Undefined in mode passthrough. */
  readonly certificate: (() => ServingCertificate) | undefined;
  readonly reloads: () => readonly Reloads[];
}

/** Registers the metrics `snicket_proxy_*`. */
export function registerProxyMetrics(metrics: Metrics, options: ProxyMetricsOptions): void {
  const { counters, certificate } = options;
  const { loadBalancer, health } = options.edge;
  const add = (
    type: 'counter' | 'gauge',
    name: string,
    help: string,
    samples: () => Iterable<Sample>,
  ): void => metrics.register({ name: `snicket_proxy_${name}`, help, type, samples });
  const global = (name: GlobalCounter) => () => [{ value: counters.global(name) }];

  add('gauge', 'info', 'Always 1; mode and engine of this proxy.', () => [
    { labels: { mode: options.mode, engine: options.engine }, value: 1 },
  ]);
  add('gauge', 'engine_fallback', '1 if the engine that was wanted does not work here.', () => [
    { value: options.isFallback ? 1 : 0 },
  ]);
  add('gauge', 'connections_open', 'Connections of pods.', global('open'));
  add('counter', 'connections_total', 'Connections accepted.', global('accepted'));
  add('counter', 'bytes_total', 'Bytes of pods (up) and of the edge (down), as passed on.', () => {
    const { bytesUp, bytesDown } = counters.slot(0);
    return [
      { labels: { direction: 'up' }, value: bytesUp },
      { labels: { direction: 'down' }, value: bytesDown },
    ];
  });
  add('counter', 'failures_total', 'Connections and dials that failed, by reason.', () =>
    Object.entries(counters.failures()).map(([reason, value]) => ({ labels: { reason }, value })),
  );
  add(
    'counter',
    'dials_total',
    'Dials to the edge that came to an end, one way or the other.',
    () => [{ value: counters.slot(0).dials }],
  );
  add(
    'counter',
    'dial_seconds_total',
    'Time spent in those; in mode terminate with the handshake.',
    () => [{ value: counters.slot(0).dialMs / 1000 }],
  );
  add('gauge', 'dialing', 'Connections that wait for the edge.', global('dialing'));
  add(
    'gauge',
    'abandoned_dials',
    'Dials that nobody waits for any more.',
    global('abandonedDials'),
  );
  add(
    'gauge',
    'unfinished_hellos',
    'Connections in their handshake, or before their first byte.',
    global('unfinishedHellos'),
  );
  add(
    'gauge',
    'kept_bytes',
    'Bytes that wait for a slow reader or a dial.',
    global('bufferedBytes'),
  );
  add(
    'counter',
    'lost_edges_total',
    'Readiness that the engine nearly missed, and healed.',
    global('recoveredEvents'),
  );
  add('gauge', 'edge_up', '1 if the last handshake with the edge was good.', () => [
    { value: health.isUp ? 1 : 0 },
  ]);
  add('counter', 'edge_probes_total', 'Handshakes for readiness, by result.', () => [
    { labels: { result: 'success' }, value: health.counts.successes },
    { labels: { result: 'failure' }, value: health.counts.failures },
  ]);
  add('gauge', 'edge_addresses', 'Addresses of the edge.', () => [{ value: loadBalancer.size }]);
  add('counter', 'reloads_total', 'Changes of a file, by result.', () =>
    options.reloads().flatMap(({ file, swaps, failures }) => [
      { labels: { file, result: 'success' }, value: swaps },
      { labels: { file, result: 'failure' }, value: failures },
    ]),
  );
  add(
    'gauge',
    'last_load_successful',
    '1 if what is in force is what the file holds, 0 if the file is of no use.',
    () =>
      options.reloads().map(({ file, isGood }) => ({ labels: { file }, value: isGood ? 1 : 0 })),
  );
  if (certificate === undefined) return;
  add(
    'gauge',
    'certificate_not_after_seconds',
    'When the serving certificate expires, in seconds since 1970.',
    () => [{ value: certificate().notAfterSeconds }],
  );
}
