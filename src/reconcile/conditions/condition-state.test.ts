import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  conditionFalse,
  conditionTrue,
  deservesWarning,
  conditionUnknownUntil,
  readyState,
  conditionPending,
  type PartialCondition,
  type ConditionState,
  type ConditionStates,
} from './condition-state.ts';

const ORDER: readonly PartialCondition[] = [
  ...(['Accepted', 'Prepared', 'Routed'] as const),
  ...(['WorkersReady', 'KonnectivityReady', 'Reachable'] as const),
];

const state: fc.Arbitrary<ConditionState> = fc.record({
  status: fc.constantFrom('True', 'False', 'Unknown'),
  reason: fc.string({ minLength: 1 }),
  message: fc.string(),
});

const conditions = fc.record(
  Object.fromEntries(ORDER.map((type) => [type, state])) as Record<PartialCondition, typeof state>,
);

const GATES: readonly PartialCondition[] = ['Accepted', 'Prepared', 'Routed', 'WorkersReady'];

describe('Ready', () => {
  test('is True if and only if its conditions are, and never Unknown', () => {
    fc.assert(
      fc.property(conditions, (all: ConditionStates) => {
        const isGood = GATES.every((type) => all[type].status === 'True');

        expect(readyState(all).status).toBe(isGood ? 'True' : 'False');
      }),
    );
  });

  test('has the reason of the first condition that is False, or else of the first that is Unknown', () => {
    fc.assert(
      fc.property(conditions, (all: ConditionStates) => {
        const first =
          GATES.find((type) => all[type].status === 'False') ??
          GATES.find((type) => all[type].status === 'Unknown');
        fc.pre(first !== undefined);

        const { reason, message } = readyState(all);

        expect({ reason, message }).toEqual({
          reason: all[first].reason,
          message: all[first].message,
        });
      }),
    );
  });

  test('is True for a tenant without nodes, and reports that', () => {
    const good = conditionTrue('Fine', 'all is well');
    const all = Object.fromEntries(ORDER.map((type) => [type, good])) as ConditionStates;

    expect(readyState(all).reason).toBe('Ready');
    expect(readyState({ ...all, WorkersReady: conditionTrue('NoNodes', 'no nodes yet') })).toEqual({
      status: 'True',
      reason: 'NoNodes',
      message: 'no nodes yet',
    });
  });

  test('does not depend on KonnectivityReady and Reachable', () => {
    const good = conditionTrue('Fine', 'all is well');
    const all = Object.fromEntries(ORDER.map((type) => [type, good])) as ConditionStates;
    const broken = { status: 'False', reason: 'EdgeUnreachable', message: 'silent' } as const;

    const ready = readyState({ ...all, KonnectivityReady: broken, Reachable: broken });

    expect(ready.status).toBe('True');
  });
});

test('Ready has the reason why proxies are not ready, if the path of clients shows it', () => {
  const good = conditionTrue('Fine', 'all is well');
  const broken = { status: 'False', reason: 'DnsNoAnswer', message: 'no address' } as const;
  const conditionsWith = (tenant: string, Reachable: ConditionState): ConditionStates => ({
    Accepted: good,
    Prepared: good,
    Routed: good,
    KonnectivityReady: good,
    WorkersReady: conditionPending(tenant, 'it does not do'),
    Reachable,
  });

  expect(readyState(conditionsWith('ProxiesNotReady', broken)).reason).toBe('DnsNoAnswer');
  expect(readyState(conditionsWith('ProxiesNotReady', good)).reason).toBe('ProxiesNotReady');
  expect(readyState(conditionsWith('TenantUnreachable', broken)).reason).toBe('TenantUnreachable');
});

describe('a state', () => {
  test('of a finding has its code, its message and its action', () => {
    const code = 'ControlPlaneMissing';
    const finding = {
      code,
      severity: 'error',
      message: 'It is gone.',
      action: 'Find it.',
    } as const;

    expect(conditionFalse(finding)).toMatchObject({
      status: 'False',
      reason: code,
      message: 'It is gone. Find it.',
    });
  });

  test('is one of three', () => {
    expect(conditionTrue('Fine', 'all is well').status).toBe('True');
    expect(conditionPending('Soon', 'it comes').status).toBe('False');
    expect(conditionUnknownUntil('Accepted')).toMatchObject({
      status: 'Unknown',
      reason: 'WaitingForCondition',
    });
  });
});

describe('a warning', () => {
  const good = conditionTrue('Fine', 'all is well');
  const all: ConditionStates = {
    Accepted: good,
    Prepared: good,
    Routed: good,
    WorkersReady: good,
    KonnectivityReady: good,
    Reachable: good,
  };

  test('reports a condition that fails', () => {
    const code = 'ControlPlaneMissing';
    const wrong = conditionFalse({ code, severity: 'error', message: 'it is gone', action: '' });

    expect(deservesWarning({ ...all, Routed: wrong }, false)).toBe(true);
  });

  test('reports a condition that waits only if the Exposure was Ready before', () => {
    const waiting = { ...all, WorkersReady: conditionPending('Soon', 'it comes') };

    expect(deservesWarning(waiting, false)).toBe(false);
    expect(deservesWarning(waiting, true)).toBe(true);
  });

  test('reports a condition that waits before a later condition that fails', () => {
    const Reachable = { status: 'False', reason: 'No', message: 'no' } as const;

    expect(
      deservesWarning(
        { ...all, WorkersReady: conditionPending('Soon', 'it comes'), Reachable },
        false,
      ),
    ).toBe(false);
  });

  test('does not report an unknown condition', () => {
    expect(deservesWarning({ ...all, Reachable: conditionUnknownUntil('Prepared') }, true)).toBe(
      false,
    );
    expect(deservesWarning(all, true)).toBe(false);
  });
});
