import { expect, test } from 'bun:test';
import { planWorld } from './spec.ts';
import { watchersNeeded } from './watchers.ts';

test('a world needs watchers for each control plane and each worker', () => {
  const plan = planWorld({ tenants: { a: {}, b: { workers: 2 } } });

  expect(watchersNeeded(plan)).toBe(3 * 11 + 4 * 8);
});
