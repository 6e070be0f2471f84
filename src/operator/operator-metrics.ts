/**
 * The metrics of the operator.
 */
import { EDGE_CONDITIONS, type EdgeStatus } from '../api/edge.ts';
import { EXPOSURE_CONDITIONS, type ExposureStatus } from '../api/exposure.ts';
import type { EventRecorder } from '../kube/events/events.ts';
import { RELIST_REASONS, type InformerCounters } from '../kube/informer/relist.ts';
import type { Condition, KubeObject } from '../kube/object.ts';
import type { WorkQueue } from '../kube/work-queue.ts';
import type { EventLoopMonitor } from '../telemetry/event-loop.ts';
import type { Histogram } from '../telemetry/histogram.ts';
import type { MetricFamily, Metrics, Sample } from '../telemetry/metrics.ts';
import type { RolloutPhase } from '../reconcile/tenant/rollout-pacing.ts';

/** The parts of the operator that the metrics read. */
interface MetricSources {
  readonly queues: Readonly<Record<string, WorkQueue>>;
  /** Failed reconciles, by controller. */
  readonly errors: ReadonlyMap<string, number>;
  /** Reconciles that were repeated after a conflict, by controller. */
  readonly conflicts: ReadonlyMap<string, number>;
  readonly events: EventRecorder;
  /** By cluster: `management`, and `tenant` for all tenants together. */
  readonly informers: Readonly<Record<string, InformerCounters>>;
  readonly exposures: () => readonly KubeObject[];
  readonly edges: () => readonly KubeObject[];
  readonly eventLoop: EventLoopMonitor;
  readonly tenants: () => number;
  readonly isLeader: () => boolean;
  /** How many tenants are in each phase of a rollout. */
  readonly rollouts: () => Readonly<Record<RolloutPhase, number>>;
}

/** Registers the metrics of the operator. */
export function registerOperatorMetrics(metrics: Metrics, operator: MetricSources): void {
  const register =
    (type: MetricFamily['type']) => (name: string, help: string, samples: () => Iterable<Sample>) =>
      metrics.register({ type, name: `snicket_operator_${name}`, help, samples });
  const gauge = register('gauge');
  const counter = register('counter');
  const histogram = register('histogram');

  const single = (value: () => number) => () => [{ value: value() }];
  const perController = (value: (queue: WorkQueue, controller: string) => number) => () =>
    Object.entries(operator.queues).map(([controller, queue]) => ({
      labels: { controller },
      value: value(queue, controller),
    }));
  const histogramPerController = (of: (queue: WorkQueue) => Histogram) => () =>
    Object.entries(operator.queues).flatMap(([controller, queue]) => [
      ...of(queue).samples({ controller }),
    ]);
  const perCluster = (value: (counters: InformerCounters) => number) => () =>
    Object.entries(operator.informers).map(([cluster, counters]) => ({
      labels: { cluster },
      value: value(counters),
    }));

  gauge(
    'leader',
    'Whether this replica is the leader (1) or not (0).',
    single(() => Number(operator.isLeader())),
  );
  counter(
    'reconciles_total',
    'Reconciles that have ended, including failed ones.',
    perController((queue) => queue.numbers().runs),
  );
  histogram(
    'reconcile_duration_seconds',
    'Duration of reconciles, in seconds.',
    histogramPerController((queue) => queue.durations),
  );
  histogram(
    'queue_wait_seconds',
    'Time that objects waited in the queue before their reconcile, in seconds.',
    histogramPerController((queue) => queue.queueDurations),
  );
  counter(
    'reconcile_errors_total',
    'Reconciles that failed and were requeued.',
    perController((_, controller) => operator.errors.get(controller) ?? 0),
  );
  counter(
    'reconcile_conflicts_total',
    'Reconciles that were requeued because the object had changed in the meantime.',
    perController((_, controller) => operator.conflicts.get(controller) ?? 0),
  );
  gauge(
    'queue_depth',
    'Objects in the queue that are ready to be reconciled.',
    perController((queue) => queue.numbers().depth),
  );
  gauge(
    'longest_running_reconcile_seconds',
    'Age of the longest-running reconcile, in seconds.',
    perController((queue) => queue.numbers().longestRunningSeconds),
  );
  counter(
    'informer_lists_total',
    'Lists that informers have completed.',
    perCluster(({ lists }) => lists),
  );
  counter(
    'informer_watches_total',
    'Watches that informers have opened.',
    perCluster(({ watches }) => watches),
  );
  counter(
    'informer_relists_total',
    'Watches that could not be resumed, so that the informer listed again, by reason.',
    () => relists(operator.informers),
  );
  gauge(
    'tenants',
    'Tenants that the operator watches.',
    single(() => operator.tenants()),
  );
  gauge(
    'rollouts',
    'Tenants with a rollout of a new proxy release or a changed Edge, by phase.',
    () =>
      Object.entries(operator.rollouts()).map(([phase, value]) => ({ labels: { phase }, value })),
  );
  gauge(
    'rollouts_paused',
    'Whether a failed rollout prevents others from starting (1) or not (0).',
    single(() => Number(operator.rollouts().Failed > 0)),
  );
  gauge('exposures', 'Exposures, by condition and status.', () =>
    byCondition(operator.exposures(), EXPOSURE_CONDITIONS),
  );
  gauge('edges', 'Edges, by condition and status.', () =>
    byCondition(operator.edges(), EDGE_CONDITIONS),
  );
  gauge(
    'certificate_expiry_timestamp_seconds',
    'Expiry of the certificate that the proxies of an Exposure serve, as a Unix timestamp in seconds.',
    () => expiries(operator.exposures()),
  );
  histogram(
    'event_loop_lag_seconds',
    'Delay of a timer that fires every 20 ms, in seconds: how long the event loop was blocked.',
    () => operator.eventLoop.lateness.samples(),
  );
  gauge(
    'event_loop_longest_block_seconds',
    'Longest block of the event loop in the last one to two minutes, in seconds.',
    single(() => operator.eventLoop.longestSeconds),
  );
  gauge(
    'event_loop_longest_busy_seconds',
    'The same, counting only the CPU time of the event loop: the rest of a block is a lack of CPU.',
    single(() => operator.eventLoop.longestBusySeconds),
  );
  counter(
    'events_written_total',
    'Kubernetes Events that were written.',
    single(() => operator.events.numbers().written),
  );
  counter(
    'event_write_failures_total',
    'Kubernetes Events that could not be written.',
    single(() => operator.events.numbers().failed),
  );
}

function* relists(informers: MetricSources['informers']): Iterable<Sample> {
  for (const [cluster, counters] of Object.entries(informers)) {
    for (const reason of RELIST_REASONS) {
      yield { labels: { cluster, reason }, value: counters.relists[reason] };
    }
  }
}

type WithStatus = KubeObject & { readonly status?: ExposureStatus | EdgeStatus };

const CONDITION_STATUSES = ['True', 'False', 'Unknown'] as const;

/** Every condition with every status, also those without objects. */
function* byCondition(
  objects: readonly KubeObject[],
  conditions: readonly string[],
): Iterable<Sample> {
  const counts = new Map<string, number>();
  for (const { status } of objects as readonly WithStatus[]) {
    for (const condition of (status?.conditions ?? []) as readonly Condition[]) {
      const key = `${condition.type}/${condition.status}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  for (const condition of conditions) {
    for (const status of CONDITION_STATUSES) {
      const value = counts.get(`${condition}/${status}`) ?? 0;
      yield { labels: { condition, status }, value };
    }
  }
}

function* expiries(exposures: readonly KubeObject[]): Iterable<Sample> {
  for (const { metadata, status } of exposures as readonly (KubeObject & {
    readonly status?: ExposureStatus;
  })[]) {
    const { notAfter } = status?.certificate ?? {};
    if (notAfter === undefined) continue;
    const labels = { namespace: metadata.namespace ?? '', exposure: metadata.name };
    yield { labels, value: Date.parse(notAfter) / 1000 };
  }
}
