/** The metrics of a gateway, read from shared memory on each scrape. docs/gateway.md lists them. */
import {
  DIAL_BOUNDS_MS,
  type GlobalCounter,
  type SlotCounter,
  type SlotCounts,
} from '../engine/counters.ts';
import { histogramSamples } from '../telemetry/histogram.ts';
import type { MetricFamily, Metrics, Sample } from '../telemetry/metrics.ts';
import type { AccessLog } from './access-log.ts';
import type { GatewayOptions } from './options.ts';
import type { AssignedRoute } from './routes/route-table.ts';
import type { LoadState } from './routes/routes-feed.ts';
import type { EngineThreads } from './thread/engine-threads.ts';

/** Where the metrics read their values. */
interface GatewayMetricsOptions {
  readonly threads: EngineThreads;
  readonly options: GatewayOptions;
  readonly load: () => LoadState;
  readonly routes: () => readonly AssignedRoute[];
  readonly accessLog: AccessLog | undefined;
  /** Whether the key file on disk is the one in use. Undefined without a key file. */
  readonly keysAreCurrent: () => boolean | undefined;
}

type Family = readonly [name: string, type: MetricFamily['type'], help: string];

/** Values that the engines count, summed over the threads. */
const GLOBAL_FAMILIES: Readonly<Record<GlobalCounter, Family>> = {
  accepted: ['connections_accepted_total', 'counter', 'Total number of accepted connections.'],
  open: ['connections_open', 'gauge', 'Number of open connections.'],
  unfinishedHellos: [
    'hellos_pending',
    'gauge',
    'Number of connections whose ClientHello is incomplete.',
  ],
  dialing: ['dials_pending', 'gauge', 'Number of connections that wait for an endpoint to answer.'],
  abandonedDials: [
    'dials_abandoned',
    'gauge',
    'Number of dials that timed out and still hold a socket.',
  ],
  bufferedBytes: [
    'buffered_bytes',
    'gauge',
    'Number of bytes buffered for slow readers and pending dials.',
  ],
  recoveredEvents: [
    'recovered_events_total',
    'counter',
    'Total number of readiness events recovered by the periodic sweep.',
  ],
};

/** Values per route. */
const ROUTE_FAMILIES = {
  open: ['tenant_connections_open', 'gauge', 'Number of open connections of the route.'],
  total: [
    'tenant_connections_total',
    'counter',
    'Total number of connections of the route that were dialed.',
  ],
  bytesUp: [
    'tenant_received_bytes_total',
    'counter',
    'Total number of bytes forwarded from clients to endpoints.',
  ],
  bytesDown: [
    'tenant_sent_bytes_total',
    'counter',
    'Total number of bytes forwarded from endpoints to clients.',
  ],
} as const satisfies Partial<Readonly<Record<SlotCounter, Family>>>;

type ScalarFamily = readonly [...Family, read: (sources: GatewayMetricsOptions) => number];

/** Values that exist once per gateway. */
const SCALARS: readonly ScalarFamily[] = [
  ['routes', 'gauge', 'Number of active routes.', ({ routes }) => routes().length],
  [
    'routes_last_load_successful',
    'gauge',
    'Whether the latest version of the routes is active.',
    ({ load }) => Number(load().isCurrent),
  ],
  [
    'routes_loads_total',
    'counter',
    'Total number of versions of the routes that became active.',
    ({ load }) => load().loads,
  ],
  [
    'routes_load_failures_total',
    'counter',
    'Total number of versions of the routes that were invalid, unreadable, or delayed for lack of slots.',
    ({ load }) => load().failures,
  ],
  [
    'routes_last_load_duration_seconds',
    'gauge',
    'Duration of the last successful load of the routes.',
    ({ load }) => load().loadSeconds,
  ],
  [
    'routes_last_load_success_timestamp_seconds',
    'gauge',
    'Time of the last successful load of the routes, in seconds since 1970.',
    ({ load }) => load().loadedAtSeconds,
  ],
  [
    'threads_listening',
    'gauge',
    'Number of engine threads that accept connections.',
    ({ threads }) => threads.all.filter(({ isListening }) => isListening).length,
  ],
  [
    'thread_crashes_total',
    'counter',
    'Total number of engine threads that crashed and were restarted.',
    ({ threads }) => threads.all.reduce((sum, { crashes }) => sum + crashes, 0),
  ],
  [
    'connections_limit',
    'gauge',
    'Maximum number of open connections (--max-connections).',
    ({ options }) => options.maxConnections,
  ],
  [
    'tenant_connections_limit',
    'gauge',
    'Maximum number of open connections of a route without its own limit (--max-tenant-connections). 0 means no limit.',
    ({ options }) => options.tenantLimits.connections,
  ],
  [
    'tenant_connection_rate_limit',
    'gauge',
    'Maximum number of new connections per second of a route without its own limit (--max-tenant-connection-rate). 0 means no limit.',
    ({ options }) => options.tenantLimits.connectionsPerSecond,
  ],
];

/** Only with an access log. */
const ACCESS_LOG_SCALARS: readonly ScalarFamily[] = [
  [
    'access_log_lines_total',
    'counter',
    'Total number of lines written to the access log.',
    ({ accessLog }) => accessLog?.written ?? 0,
  ],
  [
    'access_log_lines_dropped_total',
    'counter',
    'Total number of access log lines dropped because the log could not be written.',
    ({ accessLog }) => accessLog?.dropped ?? 0,
  ],
];

/** Only with a key file. */
const KEY_SCALARS: readonly ScalarFamily[] = [
  [
    'keys_last_load_successful',
    'gauge',
    'Whether the current content of the key file is in use.',
    ({ keysAreCurrent }) => Number(keysAreCurrent() === true),
  ],
];

/** Registers all metrics of a gateway. */
export function registerGatewayMetrics(metrics: Metrics, sources: GatewayMetricsOptions): void {
  const { threads, options, accessLog } = sources;
  const add = ([name, type, help]: Family, samples: () => Iterable<Sample>) =>
    metrics.register({ name: `snicket_gateway_${name}`, type, help, samples });

  for (const [counter, family] of Object.entries(GLOBAL_FAMILIES)) {
    add(family, () => [{ value: threads.global(counter as GlobalCounter) }]);
  }
  add(
    [
      'dial_duration_seconds',
      'histogram',
      'Duration of dials to endpoints, including failed dials.',
    ],
    () =>
      histogramSamples(DIAL_BOUNDS_SECONDS, threads.dialBuckets(), threads.totalDialMs() / 1000),
  );
  add(
    [
      'failures_total',
      'counter',
      'Total number of failed connections and failed dials, by reason.',
    ],
    () => failures(threads),
  );
  for (const [counter, family] of Object.entries(ROUTE_FAMILIES)) {
    add(family, () => routeSamples(sources, counter as SlotCounter));
  }
  add(
    [
      'tenant_dial_duration_seconds',
      'summary',
      'Duration of dials to endpoints of the route, including failed dials.',
    ],
    () => routeDials(sources),
  );
  add(
    [
      'tenant_failures_total',
      'counter',
      'Total number of failed connections and failed dials of the route, by reason.',
    ],
    () => routeFailures(sources),
  );
  add(
    [
      'engine_info',
      'gauge',
      'The engine of each thread, and why it is not the preferred one. Always 1.',
    ],
    () => engines(threads),
  );
  const scalars = [
    ...SCALARS,
    ...(options.keyFile === undefined ? [] : KEY_SCALARS),
    ...(accessLog === undefined ? [] : ACCESS_LOG_SCALARS),
  ];
  for (const [name, type, help, read] of scalars) {
    add([name, type, help], () => [{ value: read(sources) }]);
  }
}

const DIAL_BOUNDS_SECONDS = DIAL_BOUNDS_MS.map((boundMs) => boundMs / 1000);

function engines(threads: EngineThreads): Sample[] {
  return threads.all.map(({ index, engine, fallbackReason = '' }) => ({
    labels: { thread: String(index), engine, fallback_reason: fallbackReason },
    value: 1,
  }));
}

/** Lists every reason from the start, so that a rate shows the first failure too. */
function failures(threads: EngineThreads): Sample[] {
  const sums: Record<string, number> = {};
  for (const { counters } of threads.all) addUp(sums, counters.allFailures());
  return Object.entries(sums).map(([reason, value]) => ({ labels: { reason }, value }));
}

function labelsOf({ route }: AssignedRoute): Record<string, string> {
  return { tenant: route.tenant, host: route.host, kind: route.kind };
}

function* routeSamples(
  { threads, routes }: GatewayMetricsOptions,
  counter: SlotCounter,
): Iterable<Sample> {
  for (const assigned of routes()) {
    yield { labels: labelsOf(assigned), value: threads.slotSum(assigned.slot, counter) };
  }
}

/** A summary without quantiles: buckets for each of thousands of routes would make the page too large. */
function* routeDials({ threads, routes }: GatewayMetricsOptions): Iterable<Sample> {
  for (const assigned of routes()) {
    const labels = labelsOf(assigned);
    yield { suffix: '_sum', labels, value: threads.slotSum(assigned.slot, 'dialMs') / 1000 };
    yield { suffix: '_count', labels, value: threads.slotSum(assigned.slot, 'dials') };
  }
}

/** Lists only reasons that occurred, because thousands of routes have 30 reasons each. */
function* routeFailures({ threads, routes }: GatewayMetricsOptions): Iterable<Sample> {
  for (const assigned of routes()) {
    const sums: Record<string, number> = {};
    for (const { counters } of threads.all) {
      const counts: SlotCounts = counters.slot(assigned.slot);
      addUp(sums, counts.failures);
    }
    const labels = labelsOf(assigned);
    for (const reason in sums) yield { labels: { ...labels, reason }, value: sums[reason] ?? 0 };
  }
}

function addUp(sums: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const reason in counts) sums[reason] = (sums[reason] ?? 0) + (counts[reason] ?? 0);
}
