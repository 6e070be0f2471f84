import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { EDGE_CONDITIONS } from '../api/edge.ts';
import { EXPOSURE_CONDITIONS } from '../api/exposure.ts';
import { systemClock, type Clock } from '../clock/clock.ts';
import { RELIST_REASONS } from '../kube/informer/relist.ts';
import { LAB_EDGES } from './testing/edges.ts';
import { OperatorLab } from './testing/operator-lab.ts';

setDefaultTimeout(240_000);

describe("the operator's metrics", () => {
  test('count Exposures by condition, reconciles, errors and tenants, and report certificate expiry', async () => {
    await using lab = await OperatorLab.start({ edge: LAB_EDGES.traefik.spec });
    const slow = { kind: 'slow', pieces: 1, pauseMs: 100 } as const;
    lab.management.inject(slow, { verb: 'apply', plural: 'edges' }, 3);
    await lab.addExposed('blue');
    await lab.addTenant('green');
    await lab.expose('green', { edgeRef: { name: 'none' } });
    await lab.untilCondition('green', 'Accepted', /^False/);

    const counted = (condition: string, status: string) =>
      lab.number('exposures', `condition="${condition}",status="${status}"`);
    await lab.until('the condition is counted', () => counted('Accepted', 'False') === 1);
    await lab.until('the condition is counted', () => counted('WorkersReady', 'True') === 1);
    await lab.until(
      'Edges are counted',
      () => lab.number('edges', 'condition="Accepted",status="True"') === 1,
    );

    expect(lab.number('leader')).toBe(1);
    expect(lab.number('tenants')).toBe(1);
    expect(counted('Accepted', 'True')).toBe(1);
    expect(counted('Ready', 'True')).toBe(0);
    expect(lab.number('reconciles_total', 'controller="exposure"')).toBeGreaterThan(1);
    const seconds = () => lab.number('reconcile_duration_seconds_sum', 'controller="edge"');
    await lab.until('a slow reconcile is counted', () => seconds() >= 0.1);
    const { notAfter } = lab.statusOf('blue')!.certificate!;
    const expiry = lab.number(
      'certificate_expiry_timestamp_seconds',
      'namespace="tenants",exposure="blue"',
    );
    expect(expiry).toBe(Date.parse(notAfter) / 1000);
    await lab.until('events are written', () => lab.number('events_written_total') >= 2);
  });

  test('include every condition with every status from the start', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    lab.startOperator();

    const zeros = (name: string) =>
      lab.operator.metrics
        .text()
        .split('\n')
        .filter((line) => line.startsWith(`snicket_operator_${name}{`) && line.endsWith(' 0'));
    expect(zeros('exposures')).toHaveLength(3 * EXPOSURE_CONDITIONS.length);
    expect(zeros('edges')).toHaveLength(3 * EDGE_CONDITIONS.length);
  });

  test('count failed reconciles, and an empty queue afterwards', async () => {
    await using lab = await OperatorLab.start();
    await lab.addTenant('blue');
    const fault = { kind: 'error', status: 500, reason: 'InternalError' } as const;
    lab.management.inject(fault, { verb: 'patch', plural: 'exposures' }, 2);

    await lab.expose('blue');

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(lab.number('reconcile_errors_total', 'controller="exposure"')).toBe(2);
    expect(lab.number('reconcile_errors_total', 'controller="edge"')).toBe(0);
    await lab.until(
      'the queue is empty',
      () => lab.number('queue_depth', 'controller="exposure"') === 0,
    );
  });

  test('count lists and watches of informers, and relists by reason', async () => {
    await using lab = await OperatorLab.start();
    const relists = (reason: string) =>
      lab.number('informer_relists_total', `cluster="management",reason="${reason}"`);
    const watches = () => lab.number('informer_watches_total', 'cluster="management"');
    await lab.until('all kinds are watched', () => watches() === lab.management.openWatches);
    const first = {
      lists: lab.number('informer_lists_total', 'cluster="management"'),
      watches: watches(),
    };
    const reasons = RELIST_REASONS.map(relists);

    lab.management.endWatches();
    await lab.until('every watch is resumed', () => watches() === 2 * first.watches);
    const resumed = lab.number('informer_lists_total', 'cluster="management"');
    lab.management.compact();
    lab.management.endWatches();
    await lab.until('every informer has listed again', () => relists('Expired') === first.watches);
    const total = () => lab.number('informer_lists_total', 'cluster="management"');
    await lab.until('lists are counted', () => total() === 2 * first.lists);

    expect(first.lists).toBe(first.watches);
    expect(reasons).toEqual(RELIST_REASONS.map(() => 0));
    expect(resumed).toBe(first.lists);
    expect(lab.number('informer_lists_total', 'cluster="tenant"')).toBe(0);
  });

  test('measure reconcile durations and queue waits by controller', async () => {
    await using lab = await OperatorLab.start({ isOperatorRunning: false });
    lab.startOperator();
    const buckets = (name: string, controller: string) =>
      lab.operator.metrics
        .text()
        .split('\n')
        .filter((line) =>
          line.startsWith(`snicket_operator_${name}_bucket{controller="${controller}",`),
        );
    const first = buckets('queue_wait_seconds', 'shim');
    await lab.addExposed('blue');

    expect(first.length).toBeGreaterThan(10);
    expect(first.every((line) => line.endsWith(' 0'))).toBe(true);
    for (const controller of ['exposure', 'edge']) {
      const labels = `controller="${controller}"`;
      const runs = lab.number('reconciles_total', labels);
      const started = lab.number('queue_wait_seconds_count', labels);
      expect(runs).toBeGreaterThan(0);
      expect(lab.number('reconcile_duration_seconds_count', labels)).toBe(runs);
      expect(started).toBeGreaterThanOrEqual(runs);
      expect(buckets('reconcile_duration_seconds', controller).at(-1)).toEndWith(`"+Inf"} ${runs}`);
    }
  });

  test('measure the event loop with the system clock while the operator runs', async () => {
    let open = 0;
    const clock: Clock = {
      ...systemClock,
      every(periodMs, run) {
        const stop = systemClock.every(periodMs, run);
        open += 1;
        return () => {
          open -= 1;
          stop();
        };
      },
    };
    await using lab = await OperatorLab.start({ transport: 'tls', clock });
    const ticks = () => lab.number('event_loop_lag_seconds_count');

    await lab.until('the timer has fired', () => ticks() > 0);
    const endMs = performance.now() + 100;
    while (performance.now() < endMs);
    await lab.until(
      'the block is seen',
      () => lab.number('event_loop_longest_block_seconds') >= 0.075,
    );
    const during = open;
    await lab.stopOperator();

    expect(during).toBeGreaterThan(0);
    expect(open).toBe(0);
  });

  test('report that a stopped operator is not the leader', async () => {
    await using lab = await OperatorLab.start();
    await lab.until('the operator leads', () => lab.number('leader') === 1);

    await lab.stopOperator();

    expect(lab.number('leader')).toBe(0);
    expect(lab.number('tenants')).toBe(0);
  });
});
