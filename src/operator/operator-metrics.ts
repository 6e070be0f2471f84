/**
 * What the operator counts.
 */
import type { EdgeStatus } from '../api/edge.ts';
import type { ExposureStatus } from '../api/exposure.ts';
import type { EventRecorder } from '../kube/events/events.ts';
import { RELIST_REASONS, type InformerCounters } from '../kube/informer/relist.ts';
import type { Condition, KubeObject } from '../kube/object.ts';
import type { WorkQueue } from '../kube/work-queue.ts';
import type { EventLoopMonitor } from '../telemetry/event-loop.ts';
import type { Histogram } from '../telemetry/histogram.ts';
import type { MetricFamily, Metrics, Sample } from '../telemetry/metrics.ts';
import type { RolloutPhase } from '../reconcile/tenant/rollout-pacing.ts';

/** Where the numbers are. */
export interface CountedOperator {
  readonly queues: Readonly<Record<string, WorkQueue>>;
  /** By controller. */
  readonly errors: ReadonlyMap<string, number>;
  /** By controller. */
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

/** Registers all of it. */
export function registerOperatorMetrics(metrics: Metrics, operator: CountedOperator): void {
  const family = (
    type: MetricFamily['type'],
    name: string,
    help: string,
    samples: () => Iterable<Sample>,
  ) => metrics.register({ type, name: `snicket_operator_${name}`, help, samples });
  const perQueue = (value: (queue: WorkQueue) => number) => () =>
    Object.entries(operator.queues).map(([controller, queue]) => ({
      labels: { controller },
      value: value(queue),
    }));

  const histogram = (name: string, help: string, of: (queue: WorkQueue) => Histogram) =>
    family('histogram', name, help, () =>
      Object.entries(operator.queues).flatMap(([controller, queue]) => [
        ...of(queue).samples({ controller }),
      ]),
    );
  const perCluster = (value: (counters: InformerCounters) => number) => () =>
    Object.entries(operator.informers).map(([cluster, counters]) => ({
      labels: { cluster },
      value: value(counters),
    }));

  family('gauge', 'leader', 'Whether this process leads.', () => [
    { value: Number(operator.isLeader()) },
  ]);
  family(
    'counter',
    'reconciles_total',
    'Runs of a controller.',
    perQueue((queue) => queue.numbers().runs),
  );
  histogram('reconcile_duration_seconds', 'Duration of reconciles.', (queue) => queue.durations);
  histogram(
    'queue_wait_seconds',
    'Time that objects waited in the queue before their reconcile.',
    (queue) => queue.waits,
  );
  const perController = (counts: ReadonlyMap<string, number>) => () =>
    Object.keys(operator.queues).map((controller) => ({
      labels: { controller },
      value: counts.get(controller) ?? 0,
    }));
  family(
    'counter',
    'reconcile_errors_total',
    'Runs that failed and are repeated.',
    perController(operator.errors),
  );
  family(
    'counter',
    'reconcile_conflicts_total',
    'Reconciles repeated because the object changed in between.',
    perController(operator.conflicts),
  );
  family(
    'gauge',
    'queue_depth',
    'Objects that wait to be looked at.',
    perQueue((queue) => queue.numbers().depth),
  );
  family(
    ...([
      'gauge',
      'longest_reconcile_seconds',
      'Of the run that goes on for the longest.',
    ] as const),
    perQueue((queue) => queue.numbers().longestRunningSeconds),
  );
  family(
    'counter',
    'informer_lists_total',
    'Full lists that informers completed.',
    perCluster(({ lists }) => lists),
  );
  family(
    'counter',
    'informer_watches_total',
    'Watches that informers opened.',
    perCluster(({ watches }) => watches),
  );
  family(
    'counter',
    'informer_relists_total',
    'Watches that could not be resumed, so that the informer listed again.',
    () => relists(operator.informers),
  );
  family('gauge', 'tenants', 'Tenants that are watched.', () => [{ value: operator.tenants() }]);
  family('gauge', 'rollouts', 'Tenants with a rollout of a new release, by phase.', () =>
    Object.entries(operator.rollouts()).map(([phase, value]) => ({ labels: { phase }, value })),
  );
  family('gauge', 'rollouts_paused', '1 while a failed rollout keeps others from starting.', () => [
    { value: Number(operator.rollouts().Failed > 0) },
  ]);
  family('gauge', 'exposures', 'Exposures by condition and its status.', () =>
    byCondition(operator.exposures()),
  );
  family('gauge', 'edges', 'Edges by condition and its status.', () =>
    byCondition(operator.edges()),
  );
  family(
    ...([
      'gauge',
      'certificate_expiry_timestamp_seconds',
      'When the certificate of proxies ends.',
    ] as const),
    () => expiries(operator.exposures()),
  );
  family(
    'histogram',
    'event_loop_lag_seconds',
    'How late a timer of 20 ms was: the time that the event loop was blocked.',
    () => operator.eventLoop.lateness.samples(),
  );
  family(
    'gauge',
    'event_loop_longest_block_seconds',
    'Longest block of the event loop within the last one to two minutes.',
    () => [{ value: operator.eventLoop.longestSeconds }],
  );
  family('counter', 'events_written_total', 'Events that were written.', () => [
    { value: operator.events.numbers().written },
  ]);
  family('counter', 'events_failed_total', 'Events that could not be written.', () => [
    { value: operator.events.numbers().failed },
  ]);
}

function* relists(informers: CountedOperator['informers']): Iterable<Sample> {
  for (const [cluster, counters] of Object.entries(informers)) {
    for (const reason of RELIST_REASONS) {
      yield { labels: { cluster, reason }, value: counters.relists[reason] };
    }
  }
}

type WithStatus = KubeObject & { readonly status?: ExposureStatus | EdgeStatus };

function* byCondition(objects: readonly KubeObject[]): Iterable<Sample> {
  const counts = new Map<string, number>();
  for (const { status } of objects as readonly WithStatus[]) {
    for (const condition of (status?.conditions ?? []) as readonly Condition[]) {
      const key = `${condition.type}/${condition.status}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  for (const [key, value] of counts) {
    const [condition = '', status = ''] = key.split('/');
    yield { labels: { condition, status }, value };
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
