/** The metrics of a gateway, read from shared memory on each scrape. docs/reference/gateway.md lists them. */
import type { GlobalCounter, SlotCounter, SlotCounts } from '../engine/counters.ts';
import type { MetricFamily, Metrics, Sample } from '../telemetry/metrics.ts';
import type { AccessLog } from './access-log.ts';
import type { GatewayOptions } from './options.ts';
import type { PlacedRoute } from './routes/route-table.ts';
import type { LoadState } from './routes/routes-feed.ts';
import type { EngineThreads } from './thread/engine-threads.ts';

/** Where the metrics read their values. */
export interface GatewayNumbers {
  readonly threads: EngineThreads;
  readonly options: GatewayOptions;
  readonly load: () => LoadState;
  readonly routes: () => readonly PlacedRoute[];
  readonly accessLog: AccessLog | undefined;
  /** Whether the key file on disk is the one in use. Undefined without a key file. */
  readonly keysAreGood: () => boolean | undefined;
}

type Family = readonly [name: string, type: MetricFamily['type'], help: string];

/** Values that the engines count, summed over the threads. */
const GLOBAL_FAMILIES: Readonly<Record<GlobalCounter, Family>> = {
  accepted: ['connections_accepted_total', 'counter', 'Connections accepted.'],
  open: ['connections_open', 'gauge', 'Connections open now.'],
  unfinishedHellos: [
    'hellos_unfinished',
    'gauge',
    'Connections whose first bytes are not complete.',
  ],
  dialing: ['dials_pending', 'gauge', 'Connections that wait for an endpoint to answer.'],
  abandonedDials: [
    'dials_abandoned',
    'gauge',
    'Dials that timed out and cannot be taken back yet.',
  ],
  bufferedBytes: ['kept_bytes', 'gauge', 'Bytes that wait for a slow reader or a slow dial.'],
  recoveredEvents: [
    'lost_edges_total',
    'counter',
    'Readiness that the engine nearly missed, healed.',
  ],
};

/** Values per route. `dialMs` is exported in seconds. */
const ROUTE_FAMILIES: Readonly<Record<SlotCounter, Family>> = {
  open: ['tenant_connections_open', 'gauge', 'Connections of this route open now.'],
  total: [
    'tenant_connections_total',
    'counter',
    'Connections of this route for which a dial began.',
  ],
  bytesUp: ['tenant_received_bytes_total', 'counter', 'Bytes from clients to endpoints.'],
  bytesDown: ['tenant_sent_bytes_total', 'counter', 'Bytes from endpoints to clients.'],
  dials: ['tenant_dial_seconds_count', 'counter', 'Dials, failed ones included.'],
  dialMs: ['tenant_dial_seconds_sum', 'counter', 'Time that dials took.'],
};

type Single = readonly [...Family, read: (numbers: GatewayNumbers) => number];

/** Values that exist once per gateway. */
const SINGLES: readonly Single[] = [
  ['routes', 'gauge', 'Routes in force.', ({ routes }) => routes().length],
  [
    'routes_last_load_successful',
    'gauge',
    'Whether the routes file as it is now is in force, all of it.',
    ({ load }) => Number(load().isGood),
  ],
  [
    'routes_loads_total',
    'counter',
    'Versions of the routes file that came into force.',
    ({ load }) => load().loads,
  ],
  [
    'routes_load_failures_total',
    'counter',
    'Versions that could not be used, not be read, or had to wait for room.',
    ({ load }) => load().failures,
  ],
  [
    'routes_load_seconds',
    'gauge',
    'How long the last good version took to come into force.',
    ({ load }) => load().loadSeconds,
  ],
  [
    'routes_loaded_timestamp_seconds',
    'gauge',
    'When that was, in seconds since 1970.',
    ({ load }) => load().loadedAtSeconds,
  ],
  [
    'threads_listening',
    'gauge',
    'Engine threads that accept connections.',
    ({ threads }) => threads.all.filter(({ isListening }) => isListening).length,
  ],
  [
    'thread_deaths_total',
    'counter',
    'Engine threads that died and were started again.',
    ({ threads }) => threads.all.reduce((sum, { deaths }) => sum + deaths, 0),
  ],
  ['connections_limit', 'gauge', '--max-connections.', ({ options }) => options.maxConnections],
  [
    'tenant_connections_limit',
    'gauge',
    '--max-tenant-connections, or its default; 0: none.',
    ({ options }) => options.tenantLimits.connections,
  ],
  [
    'tenant_rate_limit',
    'gauge',
    '--max-tenant-connection-rate; 0: none.',
    ({ options }) => options.tenantLimits.connectionsPerSecond,
  ],
];

/** Only with an access log. */
const ACCESS_LOG_SINGLES: readonly Single[] = [
  [
    'access_log_lines_total',
    'counter',
    'Lines written to the access log.',
    ({ accessLog }) => accessLog?.written ?? 0,
  ],
  [
    'access_log_dropped_total',
    'counter',
    'Lines lost because the log could not be written.',
    ({ accessLog }) => accessLog?.dropped ?? 0,
  ],
];

/** Only with a key file. */
const KEY_SINGLES: readonly Single[] = [
  [
    'keys_last_load_successful',
    'gauge',
    'Whether the key file as it is now is in force.',
    ({ keysAreGood }) => Number(keysAreGood() === true),
  ],
];

/** Registers all metrics of a gateway. */
export function registerGatewayMetrics(metrics: Metrics, numbers: GatewayNumbers): void {
  const { threads, options, accessLog } = numbers;
  const add = ([name, type, help]: Family, samples: () => Iterable<Sample>) =>
    metrics.register({ name: `snicket_gateway_${name}`, type, help, samples });

  for (const [counter, family] of Object.entries(GLOBAL_FAMILIES)) {
    add(family, () => [{ value: threads.global(counter as GlobalCounter) }]);
  }
  add(['failures_total', 'counter', 'Connections that did not end well, and failed dials.'], () =>
    failures(threads),
  );
  for (const [counter, family] of Object.entries(ROUTE_FAMILIES)) {
    add(family, () => routeSamples(numbers, counter as SlotCounter));
  }
  add(['tenant_failures_total', 'counter', 'The failures of one route.'], () =>
    routeFailures(numbers),
  );
  add(['engine_info', 'gauge', 'Always 1; which engine, and why not the faster one.'], () =>
    engines(threads),
  );
  const singles = [
    ...SINGLES,
    ...(options.keyFile === undefined ? [] : KEY_SINGLES),
    ...(accessLog === undefined ? [] : ACCESS_LOG_SINGLES),
  ];
  for (const [name, type, help, read] of singles) {
    add([name, type, help], () => [{ value: read(numbers) }]);
  }
}

function engines(threads: EngineThreads): Sample[] {
  return threads.all.map(({ index, engine, fallbackReason = '' }) => ({
    labels: { thread: String(index), engine, fallback_reason: fallbackReason },
    value: 1,
  }));
}

function failures(threads: EngineThreads): Sample[] {
  const sums: Record<string, number> = {};
  for (const { counters } of threads.all) addUp(sums, counters.failures());
  return Object.entries(sums).map(([reason, value]) => ({ labels: { reason }, value }));
}

function labelsOf({ route }: PlacedRoute): Record<string, string> {
  return { tenant: route.tenant, host: route.host, kind: route.kind };
}

function* routeSamples(
  { threads, routes }: GatewayNumbers,
  counter: SlotCounter,
): Iterable<Sample> {
  for (const placed of routes()) {
    const sum = threads.slotSum(placed.slot, counter);
    yield { labels: labelsOf(placed), value: counter === 'dialMs' ? sum / 1000 : sum };
  }
}

function* routeFailures({ threads, routes }: GatewayNumbers): Iterable<Sample> {
  for (const placed of routes()) {
    const sums: Record<string, number> = {};
    for (const { counters } of threads.all) {
      const counts: SlotCounts = counters.slot(placed.slot);
      addUp(sums, counts.failures);
    }
    const labels = labelsOf(placed);
    for (const reason in sums) yield { labels: { ...labels, reason }, value: sums[reason] ?? 0 };
  }
}

function addUp(sums: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const reason in counts) sums[reason] = (sums[reason] ?? 0) + (counts[reason] ?? 0);
}
