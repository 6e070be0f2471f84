import { expect, test } from 'bun:test';
import { findCondition, setCondition, type ConditionClaim } from './conditions.ts';
import type { Condition } from './object.ts';

const BEFORE = '2026-01-01T00:00:00Z';
const NOW = new Date('2026-02-03T04:05:06.789Z');
const ready: Condition = {
  type: 'Ready',
  status: 'True',
  reason: 'AllWell',
  message: '',
  observedGeneration: 3,
  lastTransitionTime: BEFORE,
};
const routed: Condition = { ...ready, type: 'Routed' };

function claim(change: Partial<ConditionClaim>): ConditionClaim {
  const { lastTransitionTime: _time, ...old } = ready;
  return { ...old, ...change };
}

test('adds a missing condition, with the time in seconds', () => {
  const list = setCondition([routed], claim({}), NOW);

  expect(list).toEqual([routed, { ...ready, lastTransitionTime: '2026-02-03T04:05:06Z' }]);
});

test('updates the time if the status changes, and keeps other conditions and the order', () => {
  const list = setCondition([ready, routed], claim({ status: 'False', reason: 'Broken' }), NOW);

  expect(list).toEqual([
    { ...ready, status: 'False', reason: 'Broken', lastTransitionTime: '2026-02-03T04:05:06Z' },
    routed,
  ]);
});

test('keeps the time when only the reason, the message or the generation changes', () => {
  const changes = [{ reason: 'StillWell' }, { message: 'More words.' }, { observedGeneration: 4 }];

  for (const change of changes) {
    expect(setCondition([ready], claim(change), NOW)).toEqual([{ ...ready, ...change }]);
  }
});

test('returns the same list if nothing changes', () => {
  const list = [ready, routed];

  expect(setCondition(list, claim({}), NOW)).toBe(list);
});

test('truncates a message at the limit of the API, which would reject the whole status', () => {
  const [longest, truncated] = ['é'.repeat(32_768), `${'é'.repeat(32_767)}…`];

  expect(setCondition([], claim({ message: longest }), NOW)[0]?.message).toBe(longest);
  const list = setCondition([], claim({ message: `${longest}é` }), NOW);
  expect(list[0]?.message).toBe(truncated);
  expect(setCondition(list, claim({ message: `${longest}é` }), NOW)).toBe(list);
});

test('finds a condition by its type', () => {
  expect(findCondition([ready, routed], 'Routed')).toBe(routed);
  expect(findCondition([ready], 'Routed')).toBeUndefined();
  expect(findCondition(undefined, 'Routed')).toBeUndefined();
});
