import { describe, expect, test } from 'bun:test';
import type { ExposureStatus } from '../../api/exposure.ts';
import { isMoveComplete, startingForMs } from './management-conditions.ts';
import { KubeError } from '../../kube/kube-error.ts';
import {
  CONDITION_ORDER,
  conditionTrue,
  conditionPending,
  type ConditionState,
  type ConditionStates,
} from './condition-state.ts';

const BEGIN = '2026-11-16T00:00:00Z';
const WAITING = conditionPending('ProxiesNotReady', 'none is ready');

function before(status: 'True' | 'False' | 'Unknown'): ExposureStatus {
  const claim = { reason: 'NotObserved', message: 'Not reconciled yet', observedGeneration: 1 };
  return {
    conditions: [{ type: 'WorkersReady', status, ...claim, lastTransitionTime: BEGIN }],
  };
}

function startingMs(
  known: ExposureStatus | undefined,
  state: ConditionState,
  afterMs: number,
): number {
  return startingForMs(
    known,
    { condition: state, hops: [] },
    new Date(Date.parse(BEGIN) + afterMs),
  );
}

describe('the report of a starting tenant is delayed', () => {
  test('for some seconds after its start', () => {
    expect(startingMs(before('Unknown'), WAITING, 1000)).toBe(4000);
    expect(startingMs(before('Unknown'), WAITING, 5000)).toBe(0);
    expect(startingMs(before('Unknown'), WAITING, 60_000)).toBe(0);
  });

  test('but not once it is ready or has failed', () => {
    expect(startingMs(before('Unknown'), conditionTrue('ProxiesReady', 'all'), 1000)).toBe(0);
    const failed: ConditionState = {
      status: 'False',
      reason: 'TenantUnreachable',
      message: 'no answer',
    };
    expect(startingMs(before('Unknown'), failed, 1000)).toBe(0);
  });

  test('but not if its state was known before', () => {
    expect(startingMs(before('True'), WAITING, 1000)).toBe(0);
    expect(startingMs(before('False'), WAITING, 1000)).toBe(0);
    expect(startingMs(undefined, WAITING, 1000)).toBe(0);
  });
});

describe('a move', () => {
  const conditions = Object.fromEntries(
    CONDITION_ORDER.map((type) => [type, conditionTrue(type, 'it is')]),
  ) as ConditionStates;
  const fault = new KubeError('Unreachable', 'no answer');

  test('is complete when all conditions are True', () => {
    expect(isMoveComplete({}, conditions, [])).toBe(true);
    const unprepared = {
      ...conditions,
      Prepared: conditionPending('WaitingForCondition', 'not yet'),
    };
    expect(isMoveComplete({}, unprepared, [])).toBe(false);
  });

  test('does not wait for a permission to check for agents, but for an agent', () => {
    const because = (reason: string, status: 'False' | 'Unknown') => ({
      ...conditions,
      KonnectivityReady: { status, reason, message: 'None.' },
    });
    expect(isMoveComplete({}, because('AgentCheckForbidden', 'Unknown'), [])).toBe(true);
    expect(isMoveComplete({}, because('AgentCheckInconclusive', 'Unknown'), [])).toBe(false);
    expect(isMoveComplete({}, because('KonnectivityNoAgent', 'False'), [])).toBe(false);
  });

  test.each(['RolloutPending', 'RolloutPaused'])('is not complete with %s', (reason) => {
    const waiting = { ...conditions, WorkersReady: conditionTrue(reason, 'A new template waits.') };
    expect(isMoveComplete({}, waiting, [])).toBe(false);
  });

  test('is not complete after a fault of the preparation, whose condition is the last known one', () => {
    expect(isMoveComplete({ fault }, conditions, [])).toBe(false);
  });
});
