/**
 * The metrics of the proxy. docs/reference/proxy-metrics.md lists them.
 */
import { DIAL_BOUNDS_MS, type Counters, type GlobalCounter } from '../engine/counters.ts';
import { histogramSamples } from '../telemetry/histogram.ts';
import type { MetricFamily, Metrics, Sample } from '../telemetry/metrics.ts';
import type { ServingCertificate } from './credentials/serving-certificate.ts';
import type { Edge } from './edge/edge.ts';

/** The reloads of one file. */
export interface FileReloads {
  /** The flag of the file. */
  readonly file: string;
  readonly successes: number;
  readonly failures: number;
  /** Whether the content in use matches the file. */
  readonly isCurrent: boolean;
}

/** The sources of the metrics. */
interface ProxyMetricsOptions {
  readonly mode: string;
  readonly engine: string;
  /** Whether the engine is not the preferred one. */
  readonly isFallback: boolean;
  readonly counters: Counters;
  readonly edge: Edge;
  /** Returns the current certificate. Undefined in mode passthrough. */
  readonly certificate: (() => ServingCertificate) | undefined;
  readonly reloads: () => readonly FileReloads[];
}

/** Registers the metrics `snicket_proxy_*`. */
export function registerProxyMetrics(metrics: Metrics, options: ProxyMetricsOptions): void {
  const { counters, certificate } = options;
  const { loadBalancer, health } = options.edge;
  const add = (
    type: MetricFamily['type'],
    name: string,
    help: string,
    samples: () => Iterable<Sample>,
  ): void => metrics.register({ name: `snicket_proxy_${name}`, help, type, samples });
  const global = (name: GlobalCounter) => () => [{ value: counters.global(name) }];

  add('gauge', 'info', 'The mode and the engine of the proxy. Always 1.', () => [
    { labels: { mode: options.mode, engine: options.engine }, value: 1 },
  ]);
  add('gauge', 'engine_fallback', 'Whether the preferred engine does not work here.', () => [
    { value: options.isFallback ? 1 : 0 },
  ]);
  add('gauge', 'connections_open', 'Number of open connections of pods.', global('open'));
  add(
    'counter',
    'connections_accepted_total',
    'Total number of accepted connections of pods.',
    global('accepted'),
  );
  add('counter', 'received_bytes_total', 'Total number of bytes forwarded from pods.', () => [
    { value: counters.slot(0).bytesUp },
  ]);
  add('counter', 'sent_bytes_total', 'Total number of bytes forwarded to pods.', () => [
    { value: counters.slot(0).bytesDown },
  ]);
  add(
    'counter',
    'failures_total',
    'Total number of failed connections and failed dials, by reason.',
    () =>
      Object.entries(counters.allFailures()).map(([reason, value]) => ({
        labels: { reason },
        value,
      })),
  );
  add(
    'histogram',
    'dial_duration_seconds',
    'Duration of dials to the edge, including failed dials. In mode terminate, includes the TLS handshake.',
    () =>
      histogramSamples(DIAL_BOUNDS_SECONDS, counters.dialBuckets(), counters.totalDialMs() / 1000),
  );
  add(
    'gauge',
    'dials_pending',
    'Number of connections that wait for the edge to answer.',
    global('dialing'),
  );
  add(
    'gauge',
    'dials_abandoned',
    'Number of dials that timed out and still hold a socket.',
    global('abandonedDials'),
  );
  add(
    'gauge',
    'handshakes_pending',
    'Number of connections before their first byte or in their TLS handshake.',
    global('unfinishedHellos'),
  );
  add(
    'gauge',
    'buffered_bytes',
    'Number of bytes buffered for slow readers and pending dials.',
    global('bufferedBytes'),
  );
  add(
    'counter',
    'recovered_events_total',
    'Total number of readiness events recovered by the periodic sweep.',
    global('recoveredEvents'),
  );
  add('gauge', 'edge_up', 'Whether the last probe of the edge succeeded.', () => [
    { value: health.isUp ? 1 : 0 },
  ]);
  add('counter', 'edge_probes_total', 'Total number of probes of the edge, by result.', () => [
    { labels: { result: 'success' }, value: health.counts.successes },
    { labels: { result: 'failure' }, value: health.counts.failures },
  ]);
  add('gauge', 'edge_addresses', 'Number of addresses of the edge.', () => [
    { value: loadBalancer.size },
  ]);
  add('counter', 'reloads_total', 'Total number of reloads of a file, by result.', () =>
    options.reloads().flatMap(({ file, successes, failures }) => [
      { labels: { file, result: 'success' }, value: successes },
      { labels: { file, result: 'failure' }, value: failures },
    ]),
  );
  add('gauge', 'last_reload_successful', 'Whether the current content of the file is in use.', () =>
    options
      .reloads()
      .map(({ file, isCurrent }) => ({ labels: { file }, value: isCurrent ? 1 : 0 })),
  );
  if (certificate === undefined) return;
  add(
    'gauge',
    'certificate_expiry_timestamp_seconds',
    'Time at which the serving certificate expires, in seconds since 1970.',
    () => [{ value: certificate().notAfterSeconds }],
  );
}

const DIAL_BOUNDS_SECONDS = DIAL_BOUNDS_MS.map((boundMs) => boundMs / 1000);
