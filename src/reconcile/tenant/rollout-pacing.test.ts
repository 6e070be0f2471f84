import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ManualClock } from '../../clock/manual-clock.ts';
import {
  decideRollout,
  phaseOf,
  RolloutPacer,
  type RolloutObservation,
  type Wave,
} from './rollout-pacing.ts';

const IDLE: Wave = { active: 0, failed: [], maxConcurrent: 10, isComplete: true };
const DONE: RolloutObservation = {
  isBehind: false,
  isObserved: true,
  isUpdated: true,
  isStuck: false,
  isHealthy: true,
  hasOwnImage: false,
};
const BEHIND = { ...DONE, isBehind: true };
const ROLLING = { ...DONE, isUpdated: false };
const STUCK = { ...ROLLING, isStuck: true };

describe('a tenant may start', () => {
  test('while fewer than the limit are active', () => {
    expect(decideRollout({ ...IDLE, active: 9 })).toEqual({ mayStart: true });
    expect(decideRollout({ ...IDLE, active: 10 })).toEqual({
      mayStart: false,
      reason: 'RolloutPending',
      message: 'A new template waits for 10 other rollouts.',
    });
  });

  test('not while a rollout has failed; the message names it', () => {
    const decision = decideRollout({ ...IDLE, failed: ['tenants/a', 'tenants/b'] });

    expect(decision).toMatchObject({ mayStart: false, reason: 'RolloutPaused' });
    expect(decision).toHaveProperty('message', expect.stringContaining('Exposure tenants/a and'));
  });

  test('not before every tenant was observed', () => {
    expect(decideRollout({ ...IDLE, isComplete: false })).toMatchObject({
      mayStart: false,
      reason: 'RolloutPending',
    });
  });
});

describe('the phase', () => {
  test.each([
    ['of a tenant behind the release', BEHIND, undefined, 'Pending'],
    ['of one that is stuck behind it', { ...STUCK, isBehind: true }, undefined, 'Pending'],
    ['while pods are replaced', ROLLING, undefined, 'Active'],
    ['of a tenant that is done', DONE, undefined, undefined],
    ['before its controllers see it', { ...DONE, isObserved: false }, undefined, 'Active'],
    ['if they never do', { ...STUCK, isObserved: false }, undefined, undefined],
    ['of one that fails', STUCK, { isOwn: false, wasHealthy: true }, 'Failed'],
    ['of one that was broken before', STUCK, { isOwn: false, wasHealthy: false }, undefined],
    ['of one that changed by itself', ROLLING, { isOwn: true, wasHealthy: false }, undefined],
    ['of one that fails by itself', STUCK, { isOwn: true, wasHealthy: false }, undefined],
    ['in a new process, with proxies that serve', STUCK, undefined, 'Failed'],
    ['in a new process, broken', { ...STUCK, isHealthy: false }, undefined, undefined],
    ['in a new process, with another image', { ...STUCK, hasOwnImage: true }, undefined, undefined],
  ] as const)('%s', (_, observation, origin, phase) => {
    expect(phaseOf(observation, origin)).toBe(phase);
  });
});

/** A pacer of this many tenants, all of which were reconciled once. */
function pacerOf(count: number, maxConcurrent = 2) {
  const asked: string[] = [];
  const clock = new ManualClock();
  const pacer = new RolloutPacer({
    maxConcurrent,
    exposures: () => count,
    clock,
    onChange: (exposure) => asked.push(exposure),
  });
  for (let index = 0; index < count; index++) pacer.reconciled(`t${index}`);
  return { pacer, asked, clock };
}

describe('the pacer', () => {
  test('starts no tenant before it has observed all of them', () => {
    const asked: string[] = [];
    const pacer = new RolloutPacer({
      maxConcurrent: 2,
      exposures: () => 2,
      clock: new ManualClock(),
      onChange: (exposure) => asked.push(exposure),
    });

    expect(pacer.request('a', true).mayStart).toBe(false);
    pacer.reconciled('a');
    expect(asked).toEqual([]);
    pacer.reconciled('b');

    expect(asked).toEqual(['a']);
    expect(pacer.request('a', true).mayStart).toBe(true);
  });

  test('lets the next one request when a slot is free', () => {
    const { pacer, asked } = pacerOf(4);
    const may = ['t0', 't1', 't2', 't3'].map((tenant) => pacer.request(tenant, true).mayStart);
    expect(may).toEqual([true, true, false, false]);
    pacer.observe('t0', ROLLING);
    expect(asked).toEqual([]);

    pacer.observe('t0', DONE);

    expect(asked).toEqual(['t2']);
    expect(pacer.counts).toEqual({ Pending: 2, Active: 1, Failed: 0 });
  });

  test('wakes no tenant when another one starts and its write is delayed', () => {
    const { pacer, asked } = pacerOf(2);
    const behind = { ...DONE, isBehind: true };
    for (let round = 0; round < 3; round++) {
      for (const tenant of ['t0', 't1']) {
        expect(pacer.request(tenant, true).mayStart).toBe(true);
        pacer.observe(tenant, behind);
        pacer.reconciled(tenant);
      }
    }

    expect(asked).toEqual([]);
  });

  test('starts a tenant again whose template changes during its rollout, as when an Edge is changed back', () => {
    const { pacer } = pacerOf(2, 1);
    expect(pacer.request('t0', true).mayStart).toBe(true);
    pacer.observe('t0', ROLLING);

    expect(pacer.request('t0', true).mayStart).toBe(true);
    expect(pacer.counts).toEqual({ Pending: 0, Active: 1, Failed: 0 });
  });

  test('starts a tenant again whose template changes after its rollout failed', () => {
    const { pacer, asked } = pacerOf(2, 1);
    expect(pacer.request('t0', true).mayStart).toBe(true);
    pacer.observe('t0', STUCK);
    expect(pacer.request('t1', true)).toMatchObject({ reason: 'RolloutPaused' });

    expect(pacer.request('t0', true).mayStart).toBe(true);

    expect(pacer.counts).toEqual({ Pending: 1, Active: 1, Failed: 0 });
    expect(asked).toContain('t1');
  });

  test('pauses when one fails, lets all waiting ones report it, and continues when it recovers', () => {
    const { pacer, asked } = pacerOf(4, 1);
    pacer.request('t0', true);
    for (const tenant of ['t1', 't2', 't3']) pacer.request(tenant, true);

    pacer.observe('t0', STUCK);
    expect(asked.splice(0)).toEqual(['t1', 't2', 't3']);
    expect(pacer.request('t1', true)).toMatchObject({ reason: 'RolloutPaused' });

    pacer.observe('t0', DONE);
    expect(asked).toContain('t1');
    expect(pacer.request('t1', true).mayStart).toBe(true);
  });

  test('pauses for an hour from the first failure of a tenant, whatever that tenant does', () => {
    const { pacer, asked, clock } = pacerOf(2, 1);
    pacer.request('t0', true);
    pacer.request('t1', true);
    pacer.observe('t0', STUCK);
    clock.advance(30 * 60_000);
    pacer.observe('t0', ROLLING);
    pacer.observe('t0', STUCK);
    clock.advance(30 * 60_000 - 1);
    pacer.observe('t0', STUCK);
    expect(pacer.request('t1', true)).toMatchObject({ reason: 'RolloutPaused' });
    asked.splice(0);

    clock.advance(1);
    pacer.observe('t0', STUCK);

    expect(asked).toEqual(['t1']);
    expect(pacer.counts).toEqual({ Pending: 1, Active: 0, Failed: 0 });
    expect(pacer.request('t1', true).mayStart).toBe(true);
  });

  test('pauses for another tenant that fails after that hour', () => {
    const { pacer, clock } = pacerOf(3, 1);
    pacer.request('t0', true);
    pacer.observe('t0', STUCK);
    clock.advance(60 * 60_000);
    pacer.observe('t0', STUCK);
    pacer.request('t1', true);

    pacer.observe('t1', STUCK);

    expect(pacer.request('t2', true)).toMatchObject({
      reason: 'RolloutPaused',
      message: expect.stringContaining('Exposure t1 failed'),
    });
  });

  test('starts the next release in tenants that failed with the previous one', () => {
    const { pacer } = pacerOf(2, 2);
    pacer.request('t0', true);
    pacer.request('t1', true);
    pacer.observe('t0', STUCK);
    pacer.observe('t1', STUCK);

    pacer.observe('t0', { ...STUCK, isBehind: true });
    pacer.observe('t1', { ...STUCK, isBehind: true });

    expect(pacer.request('t0', true).mayStart).toBe(true);
    expect(pacer.request('t1', true).mayStart).toBe(true);
  });

  test('frees the slot of a tenant that is gone or does not answer', () => {
    const { pacer, asked } = pacerOf(4, 1);
    pacer.request('t0', true);
    pacer.request('t1', true);

    pacer.unreachable('t0');
    expect(asked.splice(0)).toEqual(['t1']);
    pacer.request('t1', true);
    pacer.request('t2', true);
    pacer.forget('t1');

    expect(asked).toEqual(['t2']);
  });

  test.each([
    ['is active', ROLLING],
    ['failed', STUCK],
  ])('does not count a tenant that %s once a reconcile does not observe it', (_, observation) => {
    const { pacer, asked } = pacerOf(2, 1);
    pacer.request('t0', true);
    pacer.observe('t0', observation);
    pacer.reconciled('t0');
    pacer.request('t1', true);
    pacer.reconciled('t1');
    asked.splice(0);

    pacer.reconciled('t0');

    expect(asked).toEqual(['t1']);
    expect(pacer.request('t1', true).mayStart).toBe(true);
  });

  test('lets the next tenant request if the tenant that may start does not', () => {
    const { pacer, asked } = pacerOf(3, 1);
    for (const tenant of ['t0', 't1', 't2']) {
      pacer.request(tenant, true);
      pacer.reconciled(tenant);
    }
    pacer.observe('t0', DONE);
    expect(asked.splice(0)).toEqual(['t1']);

    pacer.reconciled('t1');

    expect(asked).toEqual(['t2']);
    expect(pacer.counts.Pending).toBe(1);
  });

  test('keeps the slot of a tenant whose reconcile failed for five minutes', () => {
    const { pacer, clock } = pacerOf(2, 1);
    pacer.request('t0', true);
    pacer.reconciled('t0');

    pacer.interrupted('t0');
    expect(pacer.counts.Active).toBe(1);
    clock.advance(5 * 60_000);
    pacer.interrupted('t0');

    expect(pacer.counts.Active).toBe(0);
  });

  test('lets the next tenant request if the reconcile of the tenant that may start fails', () => {
    const { pacer, asked } = pacerOf(3, 1);
    for (const tenant of ['t0', 't1', 't2']) {
      pacer.request(tenant, true);
      pacer.reconciled(tenant);
    }
    pacer.observe('t0', DONE);
    asked.splice(0);

    pacer.interrupted('t1');

    expect(asked).toEqual(['t2']);
  });

  test('never has more active than the limit, whatever happens', () => {
    const key = fc.integer({ min: 0, max: 9 }).map((index) => `t${index}`);
    const step = fc.oneof(
      key.map((tenant) => (pacer: RolloutPacer) => void pacer.request(tenant, true)),
      key.map((tenant) => (pacer: RolloutPacer) => pacer.observe(tenant, DONE)),
      key.map((tenant) => (pacer: RolloutPacer) => pacer.startedOwn(tenant)),
      key.map((tenant) => (pacer: RolloutPacer) => pacer.unreachable(tenant)),
      key.map((tenant) => (pacer: RolloutPacer) => pacer.reconciled(tenant)),
      key.map((tenant) => (pacer: RolloutPacer) => pacer.interrupted(tenant)),
      key.map((tenant) => (pacer: RolloutPacer) => pacer.forget(tenant)),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { pacer } = pacerOf(10, 3);
        for (const take of steps) {
          take(pacer);
          expect(pacer.counts.Active).toBeLessThanOrEqual(3);
          expect(Math.min(...Object.values(pacer.counts))).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});
